-- Counts the shard in one step: both sides of its ledger, how late it is, and which alerts are raised.
--
-- KEYS   prefix, settings
-- ARGV   none
-- return now, when and by whom it was paused or nil, waiting, of these due, in flight, dead, due time of the oldest due or -1,
--        a digit for each alert as one text, (counter, value)*
--        the digits are 1 for a raised alert, and stand for oldest_due, due, dead, waiting, no_consumer, failing
checkCount(0)
local oldest, alerts = first(waiting), {}
for i, name in ipairs({'oldest_due', 'due', 'dead', 'waiting', 'no_consumer', 'failing'}) do
  alerts[i] = prefix .. 'alert:' .. name
end
for i, raised in ipairs(redis.call('MGET', unpack(alerts))) do alerts[i] = raised and '1' or '0' end
local reply = {now, spare(redis.pcall('HGET', settings, 'paused')) or false, redis.call('ZCARD', waiting),
  redis.call('ZCOUNT', waiting, '-inf', now), redis.call('ZCARD', inflight), redis.call('ZCARD', dead),
  oldest and oldest <= now and oldest or -1, table.concat(alerts)}
for _, entry in ipairs(spare(redis.pcall('HGETALL', counters)) or {}) do reply[#reply + 1] = entry end
return reply
