-- Keeps the topics that were declared, with their numbers of shards; or returns them. A number that was read long ago may have
-- changed, so it is kept only if the topic has none.
--
-- KEYS   prefix, settings
--        of the registry of nodes: "<key prefix>{nodes}:"
-- ARGV   none: read only
--   or   'new' or 'old', (topic, number of shards)*    old: read long ago
-- return (topic, number of shards)*    all that are kept; nothing after a write
local kept = prefix .. 'topics'
if #ARGV == 0 then return redis.call('ZRANGE', kept, '0', '-1', 'WITHSCORES') end
check(ARGV[1] == 'new' or ARGV[1] == 'old', 'neither new nor old')
checkGroups(2, 2)
local entries = {}
for i = 2, #ARGV, 2 do entries[i - 1], entries[i] = string.format('%d', toInteger(ARGV[i + 1], 1, 1024, 'shards')), ARGV[i] end
allowWhenFull()
if ARGV[1] == 'old' then redis.call('ZADD', kept, 'NX', unpack(entries)) else redis.call('ZADD', kept, unpack(entries)) end
return {}
