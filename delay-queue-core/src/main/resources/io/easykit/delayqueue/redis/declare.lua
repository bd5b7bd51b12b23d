-- Keeps the number of shards that the topic was first used with. Runs on shard 0.
--
-- KEYS   prefix, settings
-- ARGV   number of shards
-- return the number that is kept
checkCount(1)
local shards = whole(ARGV[1], 1, 1024, 'shards')
local kept = redis.call('HGET', settings, 'shards')
if kept then return tonumber(kept) end
admit() -- an application must be able to start, and drain, when Redis is full
redis.call('HSET', settings, 'shards', ARGV[1])
return shards
