-- Gives dead messages another chance: dead to waiting, with fresh budgets; delivery number and errors stay.
-- A death is meant by id and time, so that a repeated call does not touch a later one. A page takes the oldest deaths up
-- to a cut-off, so that "all of them" ends although some die again meanwhile.
--
-- KEYS   prefix, settings
-- ARGV   'ids', delay ms of the first, gap ns between two, (id, died at)*
--   or   'page', delay ms of the first, gap ns between two, cut-off ms or '' for now, how many (1 to 100)
-- return code*             of ids: 1 waits again, 0 not dead, or died again
--   or   cut-off, count    of a page
local paged = ARGV[1] == 'page'
check(paged or ARGV[1] == 'ids', 'neither ids nor page')
local delay, gap = whole(ARGV[2], 0, 10 ^ 14, 'delay'), whole(ARGV[3], 0, 10 ^ 14, 'gap')
local ids, codes, cutOff = {}, {}, nil
if paged then
  checkCount(5)
  cutOff = ARGV[4] == '' and now or whole(ARGV[4], 0, 2 ^ 53, 'cut-off')
  ids = redis.call('ZRANGEBYSCORE', dead, '-inf', cutOff, 'LIMIT', 0, whole(ARGV[5], 1, 100, 'count'))
else
  checkGroups(4, 2)
  for i = 4, #ARGV, 2 do
    whole(ARGV[i + 1], 0, 2 ^ 53, 'died at')
    ids[#ids + 1] = ARGV[i]
  end
end
local front, due, moved = first(waiting), soonest + delay, 0
for i, id in ipairs(ids) do
  local diedAt = redis.call('ZSCORE', dead, id)
  codes[i] = 0
  if diedAt and (paged or tonumber(diedAt) == tonumber(ARGV[3 + 2 * i])) then
    redis.call('ZREM', dead, id)
    local state = redis.call('HGET', states, id)
    local s = state and parse(state) or {number = '0', releases = 0, owner = ''}
    s.failures, s.lost, s.due = 0, 0, string.format('%.0f', due + math.floor(gap * moved / 10 ^ 6))
    redis.call('HSET', states, id, format(s))
    redis.call('ZADD', waiting, s.due, id)
    moved, codes[i] = moved + 1, 1
  end
end
count('redriven', moved)
if moved > 0 then ring(front, due) end
return paged and {cutOff, moved} or codes
