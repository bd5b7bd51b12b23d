-- Takes a sample of the shard, at most one a minute, however many nodes call. Samples of the last day are kept in runs of equal
-- ones, packed: first minute, last minute, {waiting, due, in flight, dead, age of the oldest due in s, sent, acknowledged,
-- failed, lost, deaths}. The present run is in fields of its own; a run that ends goes to those of the hour in which it ends.
--
-- KEYS   prefix, settings
-- ARGV   none
-- return 1 taken, 0 there is one of this minute
checkCount(0)
local samples, minute = prefix .. 'samples', math.floor(now / 60000)
local kept = redis.call('HMGET', samples, 'from', 'to', 'values')
local from, to = tonumber(kept[1] or ''), tonumber(kept[2] or '')
-- A time ahead was written by another clock. What comes before now stays.
if to and to > minute + 1 then to = minute - 1 end
local isRun = from and to and kept[3] and from <= to
if isRun and to >= minute then return 0 end
local oldest = first(waiting)
local values = {redis.call('ZCARD', waiting), redis.call('ZCOUNT', waiting, '-inf', string.format('%d', now)),
  redis.call('ZCARD', inflight), redis.call('ZCARD', dead), oldest and math.max(0, math.floor((now - oldest) / 1000)) or 0}
local counted = redis.call('MGET', countKey('sent'), countKey('acknowledged'), countKey('failed'), countKey('lost'), countKey('dead'))
for i = 1, 5 do
  local text = counted[i]
  values[5 + i] = text and string.find(text, '^%d+$') and #text < 16 and tonumber(text) or 0
end
values = cmsgpack.pack(values)
allowWhenFull()
if isRun and values == kept[3] then
  redis.call('HSET', samples, 'to', string.format('%d', minute))
else
  local words = {'from', string.format('%d', minute), 'to', string.format('%d', minute), 'values', values}
  if isRun then
    local hour = math.floor(to / 60)
    local slot = string.format('%d', hour % 25)
    local before = redis.call('HGET', samples, slot)
    local isOfThisHour, hourBefore = pcall(function() return tonumber(string.match(before, '^(%d+):')) end)
    local runs = isOfThisHour and hourBefore == hour and before or string.format('%d', hour) .. ':'
    words[7], words[8] = slot, runs .. cmsgpack.pack(from, to) .. kept[3]
  end
  redis.call('HSET', samples, unpack(words))
end
redis.call('PEXPIRE', samples, '93600000') -- 26 hours
return 1
