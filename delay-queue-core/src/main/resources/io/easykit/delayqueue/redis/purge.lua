-- Ends dead messages, by id and time of death or by age.
--
-- KEYS   prefix, settings
-- ARGV   'ids', (id, died at)*
--   or   'age', ms since death at least, how many (1 to 100)
-- return code*    of ids: 1 purged, 0 not dead, or died again
--   or   count    by age
local aged = ARGV[1] == 'age'
check(aged or ARGV[1] == 'ids', 'neither ids nor age')
local done, codes = {}, {}
if aged then
  checkCount(3)
  local cutOff = now - whole(ARGV[2], 0, 2 ^ 53, 'age')
  done = redis.call('ZRANGEBYSCORE', dead, '-inf', cutOff, 'LIMIT', 0, whole(ARGV[3], 1, 100, 'count'))
else
  checkGroups(2, 2)
  local seen = {}
  for i = 3, #ARGV, 2 do whole(ARGV[i], 0, 2 ^ 53, 'died at') end
  for i = 2, #ARGV, 2 do
    local id, diedAt = ARGV[i], redis.call('ZSCORE', dead, ARGV[i])
    local meant = diedAt and tonumber(diedAt) == tonumber(ARGV[i + 1]) and not seen[id]
    codes[#codes + 1] = meant and 1 or 0
    if meant then
      seen[id] = true
      done[#done + 1] = id
    end
  end
end
if #done > 0 then
  redis.call('ZREM', dead, unpack(done))
  forget(done)
  count('purged', #done)
end
return aged and #done or codes
