-- Gives dead messages another chance: dead to waiting, with fresh budgets; delivery number and errors stay.
-- A death is meant by id and time, so that a repeated call does not touch a later one. A page takes the oldest deaths up
-- to a cut-off, so that "all of them" ends although some die again meanwhile.
--
-- KEYS   prefix, settings
-- ARGV   'ids', delay ms of the first, gap ns between two, (id, died at)*
--   or   'page', delay ms of the first, gap ns between two, cut-off ms or '' for now, how many (1 to 100)
-- return code*, as one text    of ids: 1 waits again, 0 not dead, or died again
--   or   cut-off, count        of a page
local paged = ARGV[1] == 'page'
check(paged or ARGV[1] == 'ids', 'neither ids nor page')
local delay, gap = duration(ARGV[2], 0, 10 ^ 14, 'delay'), duration(ARGV[3], 0, 10 ^ 14, 'gap')
local ids, codes, cutOff = {}, {}, nil
if paged then
  checkCount(5)
  cutOff = ARGV[4] == '' and now or toInteger(ARGV[4], 0, 2 ^ 53, 'cut-off')
  ids = redis.call('ZRANGEBYSCORE', dead, '-inf', cutOff, 'LIMIT', 0, toInteger(ARGV[5], 1, 100, 'count'))
else
  checkGroups(4, 2)
  for i = 4, #ARGV, 2 do
    toInteger(ARGV[i + 1], 0, 2 ^ 53, 'died at')
    ids[#ids + 1] = ARGV[i]
  end
end
local due = nowCeil + delay
local moved, newStates, entries, seen = {}, {}, {}, {}
for i, id in ipairs(ids) do
  local diedAt = redis.call('ZSCORE', dead, id)
  local isMeant = diedAt and (paged or timeOf(diedAt) == tonumber(ARGV[3 + 2 * i]))
  codes[i] = 0
  if isMeant and not seen[id] and not redis.call('ZSCORE', inflight, id) then
    local s = parse(redis.call('HGET', states, id)) or fresh('0')
    s.failures, s.lost, s.due = 0, 0, string.format('%d', due + math.floor(gap * #moved / 10 ^ 6))
    seen[id], moved[#moved + 1], codes[i] = true, id, 1
    newStates[#newStates + 1], newStates[#newStates + 2] = id, format(s)
    entries[#entries + 1], entries[#entries + 2] = s.due, id
  end
end
if #moved > 0 then
  local news = isNews(due)
  allowWhenFull()
  redis.call('ZADD', waiting, unpack(entries))
  redis.call('HSET', states, unpack(newStates))
  redis.call('ZREM', dead, unpack(moved))
  count('redriven', #moved)
  if news then notify(due) end
end
return paged and {cutOff, #moved} or table.concat(codes)
