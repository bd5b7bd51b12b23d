-- Takes the lock of a running job that no other node and no other job holds, for 15 seconds.
--
-- KEYS   prefix, settings
-- ARGV   id, owner
-- return 1 it is the owner's, 0 it is not running, or its lock is held
checkCount(2)
local job, holder = prefix .. 'job:' .. ARGV[1], ARGV[1] .. ' ' .. ARGV[2]
local kept = redis.call('HMGET', job, 'state', 'lock')
if kept[1] ~= 'running' or not kept[2] then return 0 end
local lock = prefix .. 'lock:' .. kept[2]
allowWhenFull()
if not redis.call('SET', lock, holder, 'PX', 15000, 'NX') then
  if redis.call('GET', lock) ~= holder then return 0 end
  redis.call('PEXPIRE', lock, 15000)
end
redis.call('HSET', job, 'node', ARGV[2])
return 1
