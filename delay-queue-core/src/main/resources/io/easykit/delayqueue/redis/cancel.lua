-- Ends messages that are still waiting.
--
-- KEYS   prefix, settings
-- ARGV   (id, first 8 bytes of its frame or '')*    these bytes distinguish one incarnation of an id from the next
-- return code*, as one text    1 cancelled, 0 gone, 2 in flight, 3 dead, 4 another incarnation of this id
checkGroups(1, 2)
local codes, done, dues, seen = {}, {}, {}, {}
for i = 1, #ARGV, 2 do
  local id, code, due = ARGV[i], changeable(ARGV[i], ARGV[i + 1])
  if code == 1 and not seen[id] then
    seen[id] = true
    done[#done + 1], dues[#dues + 1] = id, due or nowCeil
  elseif seen[id] then
    code = 0 -- a repetition in this batch finds it gone
  end
  codes[#codes + 1] = code
end
local news = #done > 0 and finish(waiting, done, dues, 'cancelled')
if news then notify(news) end
return table.concat(codes)
