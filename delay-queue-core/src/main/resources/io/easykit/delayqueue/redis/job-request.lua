-- Requests that a job stops, or continues where it was stopped. A node that runs it stops at its next step.
--
-- KEYS   prefix, settings
-- ARGV   id, 'stop' or 'continue'
-- return 1 done, or requested before of a node that holds the job; 0 it was so already, or there is no such job
checkCount(2)
check(ARGV[2] == 'stop' or ARGV[2] == 'continue', 'neither stop nor continue')
local job = prefix .. 'job:' .. ARGV[1]
local kept = redis.call('HMGET', job, 'state', 'lock')
local state, at = kept[1], string.format('%d', now)
if not state or state == 'done' then return 0 end
allowWhenFull()
if ARGV[2] == 'stop' then
  if state ~= 'running' then return 0 end
  local lock = prefix .. 'lock:' .. (kept[2] or '')
  local holder = spare(redis.pcall('GET', lock)) or ''
  if string.sub(holder, 1, #ARGV[1] + 1) == ARGV[1] .. ' ' and redis.call('PTTL', lock) ~= -1 then
    redis.call('HSET', job, 'request', 'stop')
    return 1
  end
  redis.call('HDEL', job, 'request') -- of a node that has died meanwhile
  redis.call('HSET', job, 'state', 'stopped', 'updated', at)
  keepJob(ARGV[1], false)
  return 1
end
local undone = redis.call('HDEL', job, 'request')
if state == 'running' then return undone end
keepJob(ARGV[1], true)
redis.call('HSET', job, 'state', 'running', 'updated', at)
return 1
