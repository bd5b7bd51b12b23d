-- probe: calls every command that the other scripts call on an entry, so that a refused one is noticed. Leaves nothing.
--
-- KEYS[1]  a key that holds nothing
--
-- returns 1
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HGET', KEYS[1], 'p')
redis.call('HMGET', KEYS[1], 'p')
redis.call('HGETALL', KEYS[1])
redis.call('HKEYS', KEYS[1])
redis.call('PTTL', KEYS[1])
redis.call('HDEL', KEYS[1], 'p')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'p', now)
local reply = redis.pcall('PEXPIRE', KEYS[1], 1000)
redis.call('HDEL', KEYS[1], 'p')
if type(reply) == 'table' then error(reply.err) end
return 1
