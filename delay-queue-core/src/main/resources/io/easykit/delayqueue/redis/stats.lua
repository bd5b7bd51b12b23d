-- Counts the shard in one step: both sides of its ledger, how late it is, and which alerts are raised.
--
-- KEYS   prefix, settings
-- ARGV   none
-- return now, when and by whom it was paused or nil, waiting, of these due, in flight, dead, due time of the oldest due or -1,
--        a digit for each alert as one text, parked messages, stopped ordering keys, limits or nil, (counter, value)*
--        the digits are 1 for a raised alert, and stand for oldest_due, due, dead, waiting, no_consumer, failing;
--        parked messages are among those that wait; of more than 1,000 keys that are held, only about 1,000 are examined;
--        limits are permits:step:burst:places:at, those of claim.lua with the permits that are there, and in us when some were
--        last taken
checkCount(0)
local oldest, alerts = first(waiting), {}
for i, name in ipairs({'oldest_due', 'due', 'dead', 'waiting', 'no_consumer', 'failing'}) do
  alerts[i] = prefix .. 'alert:' .. name
end
alerts[#alerts + 1] = prefix .. 'flow'
local found = redis.call('MGET', unpack(alerts))
local limits = table.remove(found)
for i, raised in ipairs(found) do alerts[i] = raised and '1' or '0' end
alerts[#alerts] = nil
if limits then
  local kept, at, share, step, burst = string.match(limits, '^(%d+):(%d+):[01]:((%d+):(%d+):%d+)$')
  -- As in claim.lua
  local more = share and step ~= '0' and math.floor(math.max(0, micros - at) * 10 ^ 6 / step) or 0
  limits = share and string.format('%d:%s:%d', math.floor(math.min(burst * 10 ^ 6, kept + more) / 10 ^ 6), share,
    math.min(at, micros)) or false
end

-- A key is stopped while a dead message holds it.
local dying, stopped = redis.call('ZCARD', dead), 0
local holders = dying > 0 and (spare(redis.pcall('HSCAN', heldKeys, '0', 'COUNT', '1000')) or {'0', {}})[2] or {}
for from = 2, #holders, 1000 do
  local ids = {}
  for i = from, math.min(#holders, from + 999), 2 do ids[#ids + 1] = holders[i] end
  for _, diedAt in ipairs(redis.call('ZMSCORE', dead, unpack(ids))) do stopped = stopped + (diedAt and 1 or 0) end
end
local reply = {now, spare(redis.pcall('HGET', settings, 'paused')) or false, redis.call('ZCARD', waiting),
  redis.call('ZCOUNT', waiting, '-inf', now), redis.call('ZCARD', inflight), dying,
  oldest and oldest <= now and oldest or -1, table.concat(alerts),
  redis.call('ZCOUNT', waiting, string.format('%d', PARKED), '+inf'), stopped, limits}
local names, keys = {'sent', 'acknowledged', 'failed', 'lost', 'dead', 'cancelled', 'redriven', 'purged'}, {}
for i, name in ipairs(names) do keys[i] = countKey(name) end
for i, counted in ipairs(redis.call('MGET', unpack(keys))) do
  if counted then reply[#reply + 1], reply[#reply + 2] = names[i], counted end
end
return reply
