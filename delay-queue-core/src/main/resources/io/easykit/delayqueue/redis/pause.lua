-- Stops or resumes the claims of the shard. Messages in flight go on.
--
-- KEYS   prefix, settings
-- ARGV   'pause' or 'resume', by whom
-- return 1 changed, 0 it was so already
checkCount(2)
check(ARGV[1] == 'pause' or ARGV[1] == 'resume', 'neither pause nor resume')
if ARGV[1] == 'pause' then
  if redis.call('HEXISTS', settings, 'paused') == 1 then return 0 end
  allowWhenFull()
  return redis.call('HSET', settings, 'paused', string.format('%d', now) .. ':' .. ARGV[2])
end
local changed = redis.call('HDEL', settings, 'paused')
if changed == 1 then
  local due = first(waiting)
  if due and due < PARKED then notify(due) end
end
return changed
