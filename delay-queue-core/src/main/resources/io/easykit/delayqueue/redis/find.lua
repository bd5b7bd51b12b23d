-- Reads one message, wherever it is. One in two places counts as in flight, and is read there first.
--
-- KEYS   prefix, settings
-- ARGV   id
-- return (id, place, score, state, first error, last error, frame)*    none if it is nowhere, one for each place else; nil
--        where there is none; a number for a frame that does not fit: its length
checkCount(1)
local id = ARGV[1]
local reply = {}
for _, place in ipairs({'inflight', 'waiting', 'dead'}) do
  local score = redis.call('ZSCORE', prefix .. place, id)
  if score then describe(reply, id, place, score) end
end
return reply
