-- Advances the mark of a hash with epochs. It only ever rises: a lower one means that the server came back with older data.
--
-- KEYS   the hash with the epochs of all prefixes
-- ARGV   none
-- return the new mark
-- fields ::mark   a number
local mark = tonumber(redis.call('HGET', KEYS[1], '::mark') or 0) or 0
if not (mark >= 0 and mark < 9e15) then mark = 0 end
local advanced = string.format('%d', math.floor(mark) + 1)
writeEpochs({'::mark', advanced}, {'::mark'})
return tonumber(advanced)
