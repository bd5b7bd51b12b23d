-- prepare: announces an update before it commits. Until its invalidation, or the end of the lease, nobody may store.
--
-- KEYS[1]  the entry
-- ARGV[1]  token of the update
-- ARGV[2]  lease in ms: longer than the commit
-- ARGV[3]  1 if the old value stays readable inside the stale window, 0 to drop it now
--
-- returns 1
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[2])
local ends = now + lease
local entry = redis.call('HMGET', KEYS[1], 'v', 's', 'i')
redis.call('HSET', KEYS[1], 'i:' .. ARGV[1], ends, 'i', math.max(ends, tonumber(entry[3]) or 0))
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], 'f', 'v', 's')
else
  redis.call('HDEL', KEYS[1], 'f')
  if entry[1] then redis.call('HSET', KEYS[1], 's', math.min(ends, tonumber(entry[2] or ends) or 0)) end
end
if redis.call('PTTL', KEYS[1]) < lease then redis.call('PEXPIRE', KEYS[1], lease) end
return 1
