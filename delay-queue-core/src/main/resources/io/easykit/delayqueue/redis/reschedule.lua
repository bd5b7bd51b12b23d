-- Gives messages that are still waiting another due time. A full Redis refuses it, whole.
--
-- KEYS   prefix, settings
-- ARGV   (id, due, first bytes of its frame or '')*    due: '+ms' from now, or ms since the epoch
-- return code*    1 moved, 0 gone, 2 in flight, 3 dead, 4 another life of this id
checkGroups(1, 3)
local dues, codes, entries, earliest = {}, {}, {}, nil
for i = 2, #ARGV, 3 do dues[i] = moment(ARGV[i]) end
local front = first(waiting)
for i = 1, #ARGV, 3 do
  local id, due, life, code = ARGV[i], dues[i + 1], ARGV[i + 2], 1
  if redis.call('EXISTS', message(id)) == 0 then code = 0
  elseif life ~= '' and redis.call('GETRANGE', message(id), 0, #life - 1) ~= life then code = 4
  elseif redis.call('ZSCORE', waiting, id) then
    entries[#entries + 1], entries[#entries + 2] = due, id
    if not earliest or due < earliest then earliest = due end
  elseif redis.call('ZSCORE', inflight, id) then code = 2
  else code = 3 end
  codes[#codes + 1] = code
end
if #entries > 0 then
  redis.call('ZADD', waiting, 'XX', unpack(entries))
  ring(front, earliest)
end
return codes
