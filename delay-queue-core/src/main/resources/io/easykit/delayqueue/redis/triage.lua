-- Reads the errors of dead messages in the order of their deaths, without their bodies: to group them.
--
-- KEYS   prefix, settings
-- ARGV   score of the cursor or '', id of the cursor, how many (1 to 500)
-- return dead messages, (id, score, time, last error)*   nil where there is none
checkCount(3)
local most = toInteger(ARGV[3], 1, 500, 'count')
local _, found = pageBehind(dead, ARGV[1], ARGV[2], most, false)
local notes = {}
for i = 1, #found, 2 do notes[#notes + 1] = 'L' .. found[i] end
local last = #notes > 0 and spare(redis.pcall('HMGET', errors, unpack(notes))) or {}
local reply = {redis.call('ZCARD', dead)}
for i = 1, #notes do
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = found[2 * i - 1], found[2 * i], timeOf(found[2 * i])
  reply[at + 4] = last[i] and brief(last[i]) or false
end
return reply
