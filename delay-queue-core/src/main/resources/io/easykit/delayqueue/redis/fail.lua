-- Takes back messages whose handlers have thrown: in flight to waiting after a delay, or to dead.
--
-- KEYS   prefix, settings
-- ARGV   (id, number, delay ms or -1 for dead, error)*
-- return code*    1 moved, 0 stale, -1 gone
checkGroups(1, 4)
local delays = {}
for i = 3, #ARGV, 4 do delays[#delays + 1] = ARGV[i] == '-1' and -1 or whole(ARGV[i], 0, 10 ^ 14, 'delay') end
local front = first(waiting)
local ids, holding, codes = held(1, 4)
local failed, notes, newStates, retries, deaths, earliest = {}, {}, {}, {}, {}, nil
for i, id in ipairs(ids) do
  if holding[i] then
    local s = parse(holding[i])
    s.failures = s.failures + 1
    failed[#failed + 1], notes[#notes + 1] = id, {id, s.owner, ARGV[4 * i]}
    if delays[i] < 0 then
      deaths[#deaths + 1], deaths[#deaths + 2] = now, id
    else
      local due = soonest + delays[i]
      s.due = string.format('%.0f', due)
      retries[#retries + 1], retries[#retries + 2] = due, id
      if not earliest or due < earliest then earliest = due end
    end
    newStates[#newStates + 1], newStates[#newStates + 2] = id, format(s)
  end
end
if #failed == 0 then return codes end
redis.call('ZREM', inflight, unpack(failed))
redis.call('HSET', states, unpack(newStates))
if #retries > 0 then redis.call('ZADD', waiting, unpack(retries)) end
if #deaths > 0 then redis.call('ZADD', dead, unpack(deaths)) end
for _, entry in ipairs(notes) do note(unpack(entry)) end
count('failed', #failed)
count('dead', #deaths / 2)
ring(front, earliest)
return codes
