-- Reads a page of one place in the order of time, from a cursor on. Frames and errors are cut, so that the reply is short
-- however large they are.
--
-- KEYS   prefix, settings
-- ARGV   place, 'oldest' or 'newest' first, score of the cursor or '', id of the cursor, how many, bytes of each frame
--        place: 'waiting', 'inflight' or 'dead'; 1 to 100 messages, 0 to 16384 bytes
-- return size of the place, how many come before, (id, score, time, state, last error, length of the frame, frame)*   nil
--        where there is none
checkCount(6)
local place, order = ARGV[1], ARGV[2]
check(place == 'waiting' or place == 'inflight' or place == 'dead', 'no such place: ' .. place)
check(order == 'oldest' or order == 'newest', 'neither oldest nor newest first')
local most, cut = toInteger(ARGV[5], 1, 100, 'count'), toInteger(ARGV[6], 0, 16384, 'bytes')
local set = prefix .. place
local skip, found = pageBehind(set, ARGV[3], ARGV[4], most, order == 'newest')
local reply = {redis.call('ZCARD', set), skip}
local ids, notes = {}, {}
for i = 1, #found, 2 do ids[#ids + 1], notes[#notes + 1] = found[i], 'L' .. found[i] end
if #ids == 0 then return reply end
local history = spare(redis.pcall('HMGET', states, unpack(ids))) or {}
local read = place == 'waiting' and dueOf or timeOf
local last = spare(redis.pcall('HMGET', errors, unpack(notes))) or {}
for i, id in ipairs(ids) do
  local at = #reply
  local frame = message(id)
  reply[at + 1], reply[at + 2], reply[at + 3] = id, found[2 * i], read(found[2 * i])
  reply[at + 4], reply[at + 5] = history[i] or false, last[i] and brief(last[i]) or false
  reply[at + 6] = spare(redis.pcall('STRLEN', frame)) or 0
  reply[at + 7] = cut > 0 and spare(redis.pcall('GETRANGE', frame, 0, cut - 1)) or ''
end
return reply
