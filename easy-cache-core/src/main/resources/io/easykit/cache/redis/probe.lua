-- Calls every command that the other scripts call on an entry, so that a refused command or write is noticed. Leaves nothing.
--
-- KEYS   a key that holds nothing
-- ARGV   none
-- return 1
-- fields p
redis.call('HGET', KEYS[1], 'p')
redis.call('HMGET', KEYS[1], 'p')
redis.call('HGETALL', KEYS[1])
redis.call('HKEYS', KEYS[1])
redis.call('PTTL', KEYS[1])
-- Before the deletions: after one, a server that is full takes anything from a script.
local added = redis.pcall('HSET', KEYS[1], 'p', now)
local expires = redis.pcall('PEXPIRE', KEYS[1], 1000)
redis.call('HDEL', KEYS[1], 'p')
redis.call('DEL', KEYS[1])
if type(added) == 'table' then error('-' .. added.err) end
if type(expires) == 'table' then error('-' .. expires.err) end
return 1
