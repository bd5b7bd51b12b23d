-- Stores the progress of a job under its lock and extends the lock, or releases it when the job ends or is to stop. Where it
-- stops, its field 'halted' is 1: its owner does not carry out the announced step.
--
-- KEYS   prefix, settings
-- ARGV   id, owner, state, ms of the lock, (field, value)*
-- return 1 go on, 2 stopped at request, 0 another node may run it: nothing was stored
checkGroups(5, 2)
local job, state, keep = prefix .. 'job:' .. ARGV[1], ARGV[3], duration(ARGV[4], 1, 10 ^ 7, 'lock')
check(string.find(state or '', '^%l%l[%l_]+$'), 'not the state of a job')
local kept = redis.call('HMGET', job, 'lock', 'request')
local lock = prefix .. 'lock:' .. (kept[1] or '')
if redis.call('GET', lock) ~= ARGV[1] .. ' ' .. ARGV[2] then return 0 end
local stops = state == 'running' and kept[2] == 'stop'
if stops then state = 'stopped' end
allowWhenFull()
redis.call('HSET', job, 'state', state, 'updated', string.format('%d', now), 'halted', stops and '1' or '', unpack(ARGV, 5))
keepJob(ARGV[1], state == 'running')
if state == 'running' then
  redis.call('PEXPIRE', lock, keep)
else
  redis.call('UNLINK', lock) -- first: a node that has the lock, and finds no request, goes on
  redis.call('HDEL', job, 'request')
end
return stops and 2 or 1
