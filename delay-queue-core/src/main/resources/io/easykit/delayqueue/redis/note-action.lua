-- Notes an action of an operator, and forgets the oldest. At most 1000 are forgotten at a time.
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
local old = number - most
for _ = 1, 1000 do
  if old < 1 or redis.call('HDEL', actions, string.format('%d', old)) == 0 then break end
  old = old - 1
end
return number
