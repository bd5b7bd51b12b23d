-- Notes an action of an operator before the earlier ones, and forgets the oldest.
--
-- KEYS   prefix, settings
-- ARGV   entry, most entries to keep (1 to 1000000)
-- return number of entries
checkCount(2)
local actions, most = prefix .. 'actions', toInteger(ARGV[2], 1, 10 ^ 6, 'count')
check(#ARGV[1] <= 131072, 'entry too long')
allowWhenFull()
local entries = redis.call('LPUSH', actions, ARGV[1])
redis.call('LTRIM', actions, 0, most - 1)
return math.min(entries, most)
