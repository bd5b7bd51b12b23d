-- Reads a piece of a body: for bodies that are too large for one reply.
--
-- KEYS   prefix, settings
-- ARGV   id, first 8 bytes of the body or '', offset, how many bytes
-- return the piece, or nil if the body is gone, is another one, or ends before
checkCount(4)
local id, incarnation = ARGV[1], ARGV[2]
local from, bytes = toInteger(ARGV[3], 0, 2 ^ 31, 'offset'), toInteger(ARGV[4], 1, 2 ^ 31, 'bytes')
if not isIncarnation(id, incarnation) then return false end
local piece = redis.call('GETRANGE', message(id), from, from + bytes - 1)
return piece ~= '' and piece or false
