-- Calls every command that the other scripts call on an entry, so that a refused command or write is noticed.
-- Leaves nothing, unless the user of the connection may neither remove nor expire.
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
-- Written before the deletions, because after one a full server takes anything from a script.
local added = redis.pcall('HSET', KEYS[1], 'p', now)
local expires = redis.pcall('PEXPIRE', KEYS[1], 1000)
local removed = redis.pcall('HDEL', KEYS[1], 'p')
local deleted = redis.pcall('DEL', KEYS[1])
for command, reply in pairs({HSET = added, PEXPIRE = expires, HDEL = removed, DEL = deleted}) do
  if type(reply) == 'table' then raise(command, reply) end
end
return 1
