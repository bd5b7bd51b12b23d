-- Hands back messages that were not run: in flight to waiting, at the old due time, on no budget.
--
-- KEYS   prefix, settings
-- ARGV   (id, number)*
-- return code*    1 released, 0 stale, -1 gone
checkGroups(1, 2)
local front = first(waiting)
local ids, holding, codes = held(1, 2)
local released, newStates, entries, earliest = {}, {}, {}, nil
for i, id in ipairs(ids) do
  if holding[i] then
    local s = parse(holding[i])
    local due = tonumber(s.due)
    s.releases = s.releases + 1
    released[#released + 1] = id
    newStates[#newStates + 1], newStates[#newStates + 2] = id, format(s)
    entries[#entries + 1], entries[#entries + 2] = due, id
    if not earliest or due < earliest then earliest = due end
  end
end
if #released == 0 then return codes end
redis.call('ZREM', inflight, unpack(released))
redis.call('HSET', states, unpack(newStates))
redis.call('ZADD', waiting, unpack(entries))
ring(front, earliest)
return codes
