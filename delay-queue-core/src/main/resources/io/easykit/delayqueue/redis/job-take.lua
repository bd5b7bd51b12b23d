-- Takes the lock of a running job that no other node and no other job holds. A job that is to stop, and that no node runs any
-- more, is stopped instead.
--
-- KEYS   prefix, settings
-- ARGV   id, owner, ms of the lock
-- return 1 it is the owner's, 0 it is not running, or its lock is held
checkCount(3)
local job, holder, keep = prefix .. 'job:' .. ARGV[1], ARGV[1] .. ' ' .. ARGV[2], duration(ARGV[3], 1, 10 ^ 7, 'lock')
local kept = redis.call('HMGET', job, 'state', 'lock', 'request')
if kept[1] ~= 'running' or not kept[2] then return 0 end
local lock, stops = prefix .. 'lock:' .. kept[2], kept[3] == 'stop'
local held = redis.call('GET', lock)
local isRun = held and string.sub(held, 1, #ARGV[1] + 1) == ARGV[1] .. ' '
if held and held ~= holder and (isRun or not stops) then
  check(redis.call('PTTL', lock) ~= -1, 'the key ' .. lock .. ' has no TTL: delete it')
  return 0
end
allowWhenFull()
if stops then
  redis.call('HSET', job, 'state', 'stopped', 'updated', string.format('%d', now))
  redis.call('HDEL', job, 'request')
  keepJob(ARGV[1], false)
  if held == holder then redis.call('UNLINK', lock) end
  return 0
end
redis.call('SET', lock, holder, 'PX', keep)
redis.call('HSET', job, 'node', ARGV[2])
return 1
