-- Stores a job of the administration, which any node may take. It is forgotten a day after its last change.
--
-- KEYS   prefix, settings
-- ARGV   id, name of the lock that its runner holds, (field, value)*
-- return when it was created: now, or before if the call is repeated, which changes nothing
checkGroups(3, 2)
local job, at = prefix .. 'job:' .. ARGV[1], string.format('%d', now)
check(string.find(ARGV[1], '^%w+$'), 'not the id of a job')
if redis.call('EXISTS', job) == 1 then return tonumber(redis.call('HGET', job, 'created')) or now end
check(redis.call('ZCARD', prefix .. 'running') < 1000, '1000 jobs run or wait: stop some of them')
local old = redis.call('ZRANGEBYSCORE', prefix .. 'jobs', '-inf', now - 86400000, 'LIMIT', 0, 100)
allowWhenFull()
if #old > 0 then redis.call('ZREM', prefix .. 'jobs', unpack(old)) end
keepJob(ARGV[1], true)
redis.call('HSET', job, 'lock', ARGV[2], 'state', 'running', 'created', at, 'updated', at, unpack(ARGV, 3))
redis.call('PEXPIRE', job, 86400000)
return now
