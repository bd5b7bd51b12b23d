-- Keeps the topics that were declared, with their numbers of shards; or returns them.
--
-- KEYS   prefix, settings
--        of the registry of nodes: "<key prefix>{nodes}:"
-- ARGV   (topic, number of shards)*    none: read only
-- return (topic, number of shards)*    all that are kept; nothing after a write
checkGroups(1, 2)
local kept = prefix .. 'topics'
if #ARGV == 0 then return redis.call('ZRANGE', kept, '0', '-1', 'WITHSCORES') end
local entries = {}
for i = 1, #ARGV, 2 do entries[i], entries[i + 1] = string.format('%d', toInteger(ARGV[i + 1], 1, 1024, 'shards')), ARGV[i] end
allowWhenFull()
redis.call('ZADD', kept, unpack(entries))
return {}
