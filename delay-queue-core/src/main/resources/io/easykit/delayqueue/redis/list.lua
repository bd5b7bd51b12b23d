-- Reads one page of one place, in the order of time.
--
-- KEYS   prefix, settings
-- ARGV   place ('waiting', 'inflight' or 'dead'), how many to skip, how many (1 to 100)
-- return size of the place, (id, place, score, state, first error, last error, frame)*    nil where there is none; a number
--        for a frame that does not fit: its length
checkCount(3)
local place = ARGV[1]
check(place == 'waiting' or place == 'inflight' or place == 'dead', 'no such place: ' .. place)
local skip, most = toInteger(ARGV[2], 0, 2 ^ 53, 'offset'), toInteger(ARGV[3], 1, 100, 'count')
local reply = {redis.call('ZCARD', prefix .. place)}
local found = redis.call('ZRANGE', prefix .. place, skip, skip + most - 1, 'WITHSCORES')
for i = 1, #found, 2 do describe(reply, found[i], place, found[i + 1]) end
return reply
