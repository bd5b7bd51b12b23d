-- Reads one message, wherever it is. One in two places counts as in flight, and is read there first.
--
-- KEYS   prefix, settings
-- ARGV   id
-- return (id, place, score, state, first error, last error, frame)*    none if it is nowhere, one for each place else; nil
--        where there is none; a number for a frame that does not fit: its length
checkCount(1)
local id = ARGV[1]
local reply = {}
local failure

-- A longer frame is read in pieces.
local function frameOrLength()
  local length = spare(redis.pcall('STRLEN', message(id))) or 0
  return length > 65536 and length or redis.call('MGET', message(id))[1]
end

for _, place in ipairs({'inflight', 'waiting', 'dead'}) do
  local score = redis.pcall('ZSCORE', prefix .. place, id)
  if errorOf(score) then
    failure = failure or score.err -- matters only if the message is in no place that can be read
  elseif score then
    local notes = spare(redis.pcall('HMGET', errors, 'F' .. id, 'L' .. id)) or {false, false}
    local at = #reply
    reply[at + 1], reply[at + 2], reply[at + 3] = id, place, (place == 'waiting' and dueOf or timeOf)(score)
    reply[at + 4], reply[at + 5], reply[at + 6] = spare(redis.pcall('HGET', states, id)) or false, notes[1], notes[2]
    reply[at + 7] = frameOrLength()
  end
end
if failure and #reply == 0 then error(failure, 0) end
return reply
