-- Makes every value of some prefixes a miss that was stored, or whose loader got its load lease, before. Ends clearings.
-- All prefixes at once: a reader of one of the new epochs reads all of them.
--
-- KEYS   the hash with the epochs of all prefixes
-- ARGV   (prefix, highest epoch of it that the caller has seen, token)*
--        token  of the clearing that ends; '' without one
-- return epoch*    in the order of the prefixes, in seconds of the clock or above
-- fields one for each prefix: its epoch
--        ::<token>:<prefix>  a clearing that was prepared: end of its lease in ms
local fields, prefixes, clearings, epochs = {}, {}, {}, {}
for i = 1, #ARGV, 3 do
  local prefix, epoch = ARGV[i], nextEpoch(ARGV[i], ARGV[i + 1])
  fields[#fields + 1], fields[#fields + 2] = prefix, epoch
  prefixes[#prefixes + 1], epochs[#epochs + 1] = prefix, epoch
  clearings[#clearings + 1] = '::' .. ARGV[i + 2] .. ':' .. prefix
end
-- Deletes a field that never exists, because after a deletion a full server takes anything from a script.
redis.call('HDEL', KEYS[1], '::')
writeEpochs(fields, prefixes)
-- Removed after the epochs are raised: if the script fails half way, another node ends the clearing.
callInParts('HDEL', clearings)
return epochs
