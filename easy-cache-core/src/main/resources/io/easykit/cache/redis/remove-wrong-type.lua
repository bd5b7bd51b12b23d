-- Removes a key that is no hash, so that the entry can be cached again.
--
-- KEYS   entry
-- ARGV   none
-- return 1 removed, 0 it is a hash, or nothing
-- fields none
local type = redis.call('TYPE', KEYS[1])['ok']
if type == 'hash' or type == 'none' then return 0 end
return redis.call('DEL', KEYS[1])
