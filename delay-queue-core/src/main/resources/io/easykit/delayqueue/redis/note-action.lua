-- Notes an action of an operator, and forgets the oldest: at most 1000 at a time. The field "first" is the number from which
-- on entries are kept. So it does not matter how many the call before has kept.
--
-- KEYS   prefix, settings
-- ARGV   entry, most entries to keep (1 to 1000000)
-- return number of the entry
checkCount(2)
local actions, most = prefix .. 'actions', toInteger(ARGV[2], 1, 10 ^ 6, 'count')
check(#ARGV[1] <= 131072, 'entry too long')
allowWhenFull()
local number = redis.call('HINCRBY', actions, 'last', 1)
redis.call('HSET', actions, string.format('%d', number), ARGV[1])
local oldest = math.max(tonumber(redis.call('HGET', actions, 'first') or 1) or 1, 1)
local kept = math.min(number - most + 1, oldest + 1000)
if kept <= oldest then return number end
local old = {}
for gone = oldest, kept - 1 do old[#old + 1] = string.format('%d', gone) end
redis.call('HDEL', actions, unpack(old))
redis.call('HSET', actions, 'first', string.format('%d', kept))
return number
