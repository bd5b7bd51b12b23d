-- Keeps the number of shards of the topic, and when it was declared. Shard 0 declares it; other shards keep copies. The
-- newest declaration holds. One whose number was deleted by hand still has its time.
-- Also keeps how many shards there are with those that were added later. The greatest number holds. It belongs to one
-- declaration: another one voids it.
--
-- KEYS   prefix, settings
-- ARGV   number of shards, time of the declaration, number with those added later, time at which they were added
--        0 shards: read only; no time: now, unless a number is kept; 0 with those added: none are known
-- return the number that is kept or 0, the time of its declaration in us or 0, the number with those added later, the time at
--        which they were added in us or 0, the present in us
checkCount(4)
local wanted, declared = toInteger(ARGV[1], 0, 1024, 'shards'), ARGV[2]
local all, added = toInteger(ARGV[3], 0, 1024, 'all shards'), ARGV[4]
local kept = redis.call('HMGET', settings, 'shards', 'declared', 'grown')
local shards, since = tonumber(kept[1] or ''), tonumber(kept[2] or '')
if not (shards and shards % 1 == 0 and shards >= 1 and shards <= 1024) then shards = 0 end
if not (since and since % 1 == 0 and since >= 0 and since < 2 ^ 53) then since = 0 end

-- What is kept from now on.
local at = declared == '' and math.max(micros, since + 1) or toInteger(declared, 0, 2 ^ 53, 'time')
local addedAt = added == '' and micros or toInteger(added, 0, 2 ^ 53, 'time of the addition')
local isKept = shards > 0 and (declared == '' and since > 0 or since > at)
local declares = wanted > 0 and not isKept and not (since == at and shards == wanted)
if declares then
  if declared ~= '' or shards == 0 then shards = wanted end -- else of an earlier version, which kept no time
  since = at
end
local of, keptAll, keptAt = string.match(kept[3] or '', '^(%d+):(%d+):(%d+)$')
keptAll, keptAt = tonumber(keptAll or '0'), tonumber(keptAt or '0')
local isUsable = shards > 0 and tonumber(of or '') == since and keptAll > shards and keptAll <= 1024 and keptAt < 2 ^ 53
if not isUsable then keptAll, keptAt = shards, 0 end
local isMeant = wanted > 0 and shards == wanted and (declared == '' or since == at)
local grows = isMeant and all > shards and (all > keptAll or all == keptAll and addedAt > keptAt)
if grows then keptAll, keptAt = all, addedAt end

if declares or grows then
  allowWhenFull() -- an application must be able to start, and drain, when Redis is full
  local number = string.format('%.0f', since)
  redis.call('HSET', settings, 'shards', string.format('%d', shards), 'declared', number)
  if grows then redis.call('HSET', settings, 'grown', number .. ':' .. keptAll .. ':' .. string.format('%.0f', keptAt)) end
end
return {shards, since, keptAll, keptAt, micros}
