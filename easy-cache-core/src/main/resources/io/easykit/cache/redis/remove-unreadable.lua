-- remove-unreadable: removes a value that nobody can read, if it is still the one that was seen.
--
-- KEYS[1]  the entry
-- ARGV[1]  envelope that was seen
-- ARGV[2]  its field: v and the fingerprint of its type
--
-- returns 1 removed, 0 there is another value, or none
local value = redis.call('HGET', KEYS[1], ARGV[2])
if not value or string.sub(value, 11) ~= ARGV[1] then return 0 end
local names = redis.call('HKEYS', KEYS[1])
for i = 1, #names do
  if string.sub(names[i], 1, 1) == 'v' and names[i] ~= ARGV[2] then
    -- Values of other versions need their locks: the key may live longer than they do.
    return redis.call('HDEL', KEYS[1], ARGV[2])
  end
end
redis.call('HDEL', KEYS[1], ARGV[2], 's', 'f')
return 1
