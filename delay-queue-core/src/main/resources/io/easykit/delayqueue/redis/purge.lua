-- Ends dead messages, by id and time of death or by age.
--
-- KEYS   prefix, settings
-- ARGV   'ids', (id, died at)*
--   or   'age', ms since death at least, how many (1 to 100), latest death in ms
--        latest death  the same age by the caller's clock: Redis's clock may have been set ahead, and purged letters are gone
-- return code*, as one text    of ids: 1 purged, 0 not dead, or died again
--   or   count                by age
local aged = ARGV[1] == 'age'
check(aged or ARGV[1] == 'ids', 'neither ids nor age')
local found, codes, done, deaths, seen = {}, {}, {}, {}, {}
if aged then
  checkCount(4)
  local age, latest = duration(ARGV[2], 0, 2 ^ 53, 'age'), toInteger(ARGV[4], 0, 2 ^ 53, 'latest death')
  -- Without an age all go, those too that died before the clock was set back.
  local cutOff = age == 0 and latest or math.min(now - age, latest)
  found = redis.call('ZRANGEBYSCORE', dead, '-inf', cutOff, 'LIMIT', 0, toInteger(ARGV[3], 1, 100, 'count'))
else
  checkGroups(2, 2)
  for i = 3, #ARGV, 2 do toInteger(ARGV[i], 0, 2 ^ 53, 'died at') end
  for i = 2, #ARGV, 2 do found[#found + 1] = ARGV[i] end
end
local diedAt = #found > 0 and redis.call('ZMSCORE', dead, unpack(found)) or {}
for i, id in ipairs(found) do
  local isMeant = diedAt[i] and (aged or timeOf(diedAt[i]) == tonumber(ARGV[2 * i + 1])) and not seen[id]
  codes[i] = 0
  -- A message that a script which stopped half way has left in another place as well is not dead.
  if isMeant and not redis.call('ZSCORE', waiting, id) and not redis.call('ZSCORE', inflight, id) then
    seen[id], done[#done + 1], deaths[#deaths + 1], codes[i] = true, id, diedAt[i], 1
  end
end
local news = #done > 0 and finish(dead, done, deaths, 'purged')
if news then notify(news) end
return aged and #done or table.concat(codes)
