-- Keeps the number of shards that the topic was first used with. Runs on shard 0.
--
-- KEYS   prefix, settings
-- ARGV   number of shards    0 to look only
-- return the number that is kept, or 0 if there is none
checkCount(1)
local shards = whole(ARGV[1], 0, 1024, 'shards')
local kept = tonumber(redis.call('HGET', settings, 'shards') or '')
if kept and kept % 1 == 0 and kept >= 1 and kept <= 1024 then return kept end
if shards == 0 then return 0 end
admit() -- an application must be able to start, and drain, when Redis is full
redis.call('HSET', settings, 'shards', ARGV[1])
return shards
