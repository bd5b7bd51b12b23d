-- Stores messages that wait for their time. An id that is live is left alone.
-- The only move beside reschedule that a full Redis refuses, and then whole: its first write is one that grows.
--
-- KEYS   prefix, settings
-- ARGV   (id, due, frame)*    due: '+ms' from now, or ms since the epoch
-- return code*                1 stored, 2 stored before by this very send (same frame), 0 the id is live already
checkGroups(1, 3)
local dues, codes, entries, earliest = {}, {}, {}, nil
for i = 2, #ARGV, 3 do dues[i] = moment(ARGV[i]) end
local front = first(waiting)
for i = 1, #ARGV, 3 do
  local id, due, frame = ARGV[i], dues[i + 1], ARGV[i + 2]
  if redis.call('SET', message(id), frame, 'NX') then
    codes[#codes + 1] = 1
    entries[#entries + 1], entries[#entries + 2] = due, id
    if not earliest or due < earliest then earliest = due end
  else
    codes[#codes + 1] = redis.call('GET', message(id)) == frame and 2 or 0
  end
end
if #entries > 0 then
  redis.call('ZADD', waiting, unpack(entries))
  count('sent', #entries / 2)
  ring(front, earliest)
end
return codes
