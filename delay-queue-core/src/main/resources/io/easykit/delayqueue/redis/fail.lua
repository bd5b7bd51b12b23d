-- Takes back messages whose handlers have thrown: in flight to waiting after a delay, or to dead.
--
-- KEYS   prefix, settings
-- ARGV   (id, number, delay ms or -1 or -2, error)*
--        -1 for dead; if it has an ordering key, it holds it on. -2 for dead, and its key is free
-- return code*, as one text    1 moved, 0 stale, 2 gone
checkGroups(1, 4)
local delays = {}
for i = 3, #ARGV, 4 do delays[#delays + 1] = (ARGV[i] == '-1' or ARGV[i] == '-2') and tonumber(ARGV[i]) or duration(ARGV[i], 0, 10 ^ 14, 'delay') end
local ids, holding, codes = fenced(1, 4)
local leaving, skipped, newStates, retries, deaths, leftovers, earliest = {}, {}, {}, {}, {}, {}, nil
for i, id in ipairs(ids) do
  if holding[i] then leaving[#leaving + 1], leaving[id] = id, i end
  if holding[i] and delays[i] == -2 then skipped[#skipped + 1] = id end
end
if #leaving == 0 then return table.concat(codes) end
local dueAgain, diedAt = elsewhere(leaving)
allowWhenFull()
for n, id in ipairs(leaving) do
  local i = leaving[id]
  local s = parse(holding[i]) or fresh(ARGV[4 * i - 2])
  -- Where this very call stopped half way before, only the rest of it is to be done.
  local isDead = diedAt[n] and not isRedriven(s, diedAt[n])
  local isMoved = isDead and delays[i] < 0 or dueAgain[n] and tonumber(dueAgain[n]) == tonumber(s.due)
  if not isMoved then
    s.failures = s.failures + 1
    note(id, s.owner, ARGV[4 * i])
    if delays[i] < 0 then
      deaths[#deaths + 1], deaths[#deaths + 2] = now, id
      if dueAgain[n] then leftovers[#leftovers + 1] = {waiting, id} end
    else
      local due = nowCeil + delays[i]
      s.due = string.format('%d', due)
      retries[#retries + 1], retries[#retries + 2] = due, id
      if diedAt[n] then leftovers[#leftovers + 1] = {dead, id} end
      if not earliest or due < earliest then earliest = due end
    end
    newStates[#newStates + 1], newStates[#newStates + 2] = id, format(s)
  end
end
local keys, exposed = expose(skipped)
local news = isNews(earliest)
if #retries > 0 then redis.call('ZADD', waiting, unpack(retries)) end
if #deaths > 0 then redis.call('ZADD', dead, unpack(deaths)) end
if #newStates > 0 then redis.call('HSET', states, unpack(newStates)) end
for _, entry in ipairs(leftovers) do redis.call('ZREM', unpack(entry)) end
if keys then free(keys) end -- a repetition does it too, as long as the message is in flight
redis.call('ZREM', inflight, unpack(leaving))
count('failed', #newStates / 2)
count('dead', #deaths / 2)
if exposed then notify(exposed) end
if news then notify(earliest) end
return table.concat(codes)
