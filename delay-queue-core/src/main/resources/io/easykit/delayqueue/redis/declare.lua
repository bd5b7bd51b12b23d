-- Keeps the number of shards of the topic, and when it was declared. Shard 0 declares it; other shards keep copies. The
-- newest declaration holds. One whose number was deleted by hand still has its time.
--
-- KEYS   prefix, settings
-- ARGV   number of shards, time of the declaration    0 shards: read only; no time: declare it now, unless a number is kept
-- return the number that is kept or 0, the time of its declaration in us or 0
checkCount(2)
local shards, declared = toInteger(ARGV[1], 0, 1024, 'shards'), ARGV[2]
local kept = redis.call('HMGET', settings, 'shards', 'declared')
local keptShards, keptSince = tonumber(kept[1] or ''), tonumber(kept[2] or '')
if not (keptShards and keptShards % 1 == 0 and keptShards >= 1 and keptShards <= 1024) then keptShards = 0 end
if not (keptSince and keptSince % 1 == 0 and keptSince >= 0 and keptSince < 2 ^ 53) then keptSince = 0 end
local since = declared == '' and math.max(micros, keptSince + 1) or toInteger(declared, 0, 2 ^ 53, 'time')
if declared == '' and keptShards > 0 then
  shards = shards > 0 and keptShards or 0
  if keptSince > 0 then since = keptSince end -- else of an earlier version, which kept no time
end
local isOlder = keptShards > 0 and keptSince > since
if shards == 0 or isOlder or (keptSince == since and keptShards == shards) then return {keptShards, keptSince} end
allowWhenFull() -- an application must be able to start, and drain, when Redis is full
redis.call('HSET', settings, 'shards', string.format('%d', shards), 'declared', string.format('%.0f', since))
return {shards, since}
