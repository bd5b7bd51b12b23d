-- Removes an unreadable value, if it is still the one that was seen.
--
-- KEYS   entry
-- ARGV   envelope that was seen, field    v and the fingerprint of its type
-- return 1 removed, 0 there is another value, or none
-- fields v f s x
local value = redis.call('HGET', KEYS[1], ARGV[2])
if not value or string.sub(value, 11) ~= ARGV[1] then return 0 end
local names = redis.call('HKEYS', KEYS[1])
for i = 1, #names do
  if string.sub(names[i], 1, 1) == 'v' and names[i] ~= ARGV[2] then
    -- Values of other versions need their locks: the key may live longer than they do.
    return redis.call('HDEL', KEYS[1], ARGV[2])
  end
end
redis.call('HDEL', KEYS[1], ARGV[2], 's', 'f', 'x')
return 1
