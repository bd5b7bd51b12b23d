-- Stores the progress of a job under its lock and extends the lock, or releases it when the job ends or is to stop.
--
-- KEYS   prefix, settings
-- ARGV   id, owner, state, (field, value)*
-- return 1 go on, 2 stopped at request, 0 another node may run it: nothing was stored
checkGroups(4, 2)
local job, state = prefix .. 'job:' .. ARGV[1], ARGV[3]
check(string.find(state or '', '^%l%l[%l_]+$'), 'not the state of a job')
local kept = redis.call('HMGET', job, 'lock', 'wish')
local lock = prefix .. 'lock:' .. (kept[1] or '')
if redis.call('GET', lock) ~= ARGV[1] .. ' ' .. ARGV[2] then return 0 end
local stops = state == 'running' and kept[2] == 'stop'
if stops then state = 'stopped' end
allowWhenFull()
redis.call('HSET', job, 'state', state, 'updated', string.format('%d', now), unpack(ARGV, 4))
redis.call('ZADD', prefix .. 'jobs', now, ARGV[1])
redis.call('PEXPIRE', prefix .. 'jobs', 86400000)
redis.call('PEXPIRE', job, 86400000)
if state == 'running' then
  redis.call('PEXPIRE', lock, 15000)
else
  redis.call('HDEL', job, 'wish')
  redis.call('UNLINK', lock)
end
return stops and 2 or 1
