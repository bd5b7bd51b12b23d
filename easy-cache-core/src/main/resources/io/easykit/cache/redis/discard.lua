-- discard: removes a value that nobody can read, if it is still the one that was seen.
--
-- KEYS[1]  the entry
-- ARGV[1]  envelope that was seen
--
-- returns 1 removed, 0 there is another value, or none
local value = redis.call('HGET', KEYS[1], 'v')
if not value or string.sub(value, 11) ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[1], 'v', 's', 'f')
return 1
