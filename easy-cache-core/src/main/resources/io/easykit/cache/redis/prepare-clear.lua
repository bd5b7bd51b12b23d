-- Prepares the clearing of prefixes. If the clearing is not ended before its lease expires, any node ends it.
--
-- KEYS   the hash with the epochs of all prefixes
-- ARGV   (prefix, token of the clearing, lease ms)*
--        lease  longer than the commit
-- return 1
-- fields ::<token>:<prefix>  a clearing that was prepared: end of its lease in ms
local fields, clearings = {}, {}
for i = 1, #ARGV, 3 do
  local clearing = '::' .. ARGV[i + 1] .. ':' .. ARGV[i]
  fields[#fields + 1], fields[#fields + 2] = clearing, now + tonumber(ARGV[i + 2])
  clearings[#clearings + 1] = clearing
end
writeEpochs(fields, clearings)
return 1
