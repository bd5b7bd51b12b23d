-- Gives dead messages another chance: dead to waiting, due at once, with fresh budgets; delivery number and errors stay.
-- A death is meant by id and time, so that a repeated call does not touch a later one.
--
-- KEYS   prefix, settings
-- ARGV   (id, died at)*
-- return code*, as one text    1 waits again, 0 not dead, or died again
checkGroups(1, 2)
for i = 2, #ARGV, 2 do toInteger(ARGV[i], 0, 2 ^ 53, 'died at') end
local codes, moved, newStates, entries, seen = {}, {}, {}, {}, {}
for i = 1, #ARGV, 2 do
  local id = ARGV[i]
  local diedAt = redis.call('ZSCORE', dead, id)
  local isMeant = diedAt and timeOf(diedAt) == tonumber(ARGV[i + 1]) and not seen[id]
  codes[#codes + 1] = 0
  if isMeant and not redis.call('ZSCORE', inflight, id) then
    local s = parse(redis.call('HGET', states, id)) or fresh('0')
    s.failures, s.lost, s.due = 0, 0, string.format('%d', nowCeil)
    seen[id], moved[#moved + 1], codes[#codes] = true, id, 1
    newStates[#newStates + 1], newStates[#newStates + 2] = id, format(s)
    entries[#entries + 1], entries[#entries + 2] = s.due, id
  end
end
if #moved > 0 then
  local news = isNews(nowCeil)
  allowWhenFull()
  -- The due time first: wherever this stops, the message is due after its death.
  redis.call('HSET', states, unpack(newStates))
  redis.call('ZADD', waiting, unpack(entries))
  redis.call('ZREM', dead, unpack(moved))
  count('redriven', #moved)
  if news then notify(nowCeil) end
end
return table.concat(codes)
