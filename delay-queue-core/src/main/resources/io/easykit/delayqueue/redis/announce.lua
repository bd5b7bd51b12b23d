-- Notes that deaths were announced, by id and time of death: the score in dead gets half a millisecond more. All other scripts
-- round it down, a later death of the message has no note, and the note ends with the entry.
--
-- KEYS   prefix, settings
-- ARGV   (id, died at)*
-- return code*, as one text    1 noted, 0 not dead, died again, or noted before
checkGroups(1, 2)
for i = 2, #ARGV, 2 do toInteger(ARGV[i], 0, 2 ^ 50, 'died at') end
local codes, noted, seen = {}, {}, {}
for i = 1, #ARGV, 2 do
  local score = redis.call('ZSCORE', dead, ARGV[i])
  codes[#codes + 1] = 0
  if score and tonumber(score) == tonumber(ARGV[i + 1]) and not seen[ARGV[i]] then
    seen[ARGV[i]] = true
    noted[#noted + 1], noted[#noted + 2], codes[#codes] = ARGV[i + 1] .. '.5', ARGV[i], 1
  end
end
if #noted > 0 then
  allowWhenFull()
  redis.call('ZADD', dead, 'XX', unpack(noted))
end
return table.concat(codes)
