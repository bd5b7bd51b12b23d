-- Counts the shard in one step: both sides of its ledger, and how late it is.
--
-- KEYS   prefix, settings
-- ARGV   none
-- return now, when and by whom it was paused or nil, waiting, of these due, in flight, dead, due time of the oldest due or -1,
--        (counter, value)*
checkCount(0)
local oldest = first(waiting)
local reply = {now, spare(redis.pcall('HGET', settings, 'paused')) or false, redis.call('ZCARD', waiting),
  redis.call('ZCOUNT', waiting, '-inf', now), redis.call('ZCARD', inflight), redis.call('ZCARD', dead),
  oldest and oldest <= now and oldest or -1}
for _, entry in ipairs(spare(redis.pcall('HGETALL', counters)) or {}) do reply[#reply + 1] = entry end
return reply
