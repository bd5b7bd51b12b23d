-- Hands back messages that were not run: in flight to waiting, on no budget.
--
-- KEYS   prefix, settings
-- ARGV   delay ms (0: at the old due time), (id, number)*
-- return code*, as one text    1 released, 0 stale, 2 gone
local delay = duration(ARGV[1], 0, 10 ^ 14, 'delay')
checkGroups(2, 2)
local ids, holding, codes = fenced(2, 2)
local released, newStates, entries, leftovers, earliest = {}, {}, {}, {}, nil
for i, id in ipairs(ids) do
  if holding[i] then released[#released + 1], released[id] = id, i end
end
if #released == 0 then return table.concat(codes) end
local dueAgain, diedAt = elsewhere(released)
allowWhenFull()
for n, id in ipairs(released) do
  local i = released[id]
  local s = parse(holding[i]) or fresh(ARGV[2 * i + 1])
  local wasRedriven = isRedriven(s, diedAt[n])
  if wasRedriven then leftovers[#leftovers + 1] = id end
  -- Where a script stopped half way after it had put the message elsewhere, only the rest is to be done.
  if not dueAgain[n] and (wasRedriven or not diedAt[n]) then
    local due = delay > 0 and nowCeil + delay or tonumber(s.due)
    s.releases, s.due = s.releases + 1, string.format('%d', due)
    newStates[#newStates + 1], newStates[#newStates + 2] = id, format(s)
    entries[#entries + 1], entries[#entries + 2] = due, id
    if not earliest or due < earliest then earliest = due end
  end
end
local news = isNews(earliest)
if #entries > 0 then
  redis.call('ZADD', waiting, unpack(entries))
  redis.call('HSET', states, unpack(newStates))
end
if #leftovers > 0 then redis.call('ZREM', dead, unpack(leftovers)) end
redis.call('ZREM', inflight, unpack(released))
if news then notify(earliest) end
return table.concat(codes)
