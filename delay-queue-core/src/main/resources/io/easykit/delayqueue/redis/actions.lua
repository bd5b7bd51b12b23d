-- Reads actions of operators, the latest first.
--
-- KEYS   prefix, settings
-- ARGV   how many to skip, how many (1 to 100)
-- return entry*
checkCount(2)
local skip, most = toInteger(ARGV[1], 0, 10 ^ 9, 'skip'), toInteger(ARGV[2], 1, 100, 'count')
return redis.call('LRANGE', prefix .. 'actions', skip, skip + most - 1)
