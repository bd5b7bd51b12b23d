-- Gives messages that are still waiting another due time. A full Redis refuses it, whole.
--
-- KEYS   prefix, settings
-- ARGV   (id, due, first 8 bytes of its frame or '')*    due: '+ms' from now, or ms since the epoch
-- return code*, as one text    1 moved, 0 gone, 2 in flight, 3 dead, 4 another incarnation of this id
checkGroups(1, 3)
local dues, codes, ids, entries, earliest = {}, {}, {}, {}, nil
for i = 2, #ARGV, 3 do dues[i] = parseDue(ARGV[i]) end
for i = 1, #ARGV, 3 do
  local due, code = dues[i + 1], changeable(ARGV[i], ARGV[i + 2])
  if code == 1 then
    ids[#ids + 1], entries[#entries + 1], entries[#entries + 2] = ARGV[i], due, ARGV[i]
    if not earliest or due < earliest then earliest = due end
  end
  codes[#codes + 1] = code
end
if #entries > 0 then
  local keys, exposed = expose(ids)
  local news = isNews(earliest)
  redis.call('ZADD', waiting, unpack(entries))
  if keys then unpark(keys) end
  if exposed then notify(exposed) end
  if news then notify(earliest) end
end
return table.concat(codes)
