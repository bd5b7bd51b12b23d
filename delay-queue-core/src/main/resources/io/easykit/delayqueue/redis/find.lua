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
for _, place in ipairs({'inflight', 'waiting', 'dead'}) do
  local score = redis.pcall('ZSCORE', prefix .. place, id)
  if errorOf(score) then
    failure = failure or score.err -- matters only if the message is in no place that can be read
  elseif score then
    describe(reply, id, place, score)
  end
end
if failure and #reply == 0 then error(failure, 0) end
return reply
