-- Stores messages that wait for their time. An id that is live is left alone.
-- The only move beside reschedule that a full Redis refuses, and then whole: its first write is one that grows.
--
-- KEYS   prefix, settings
-- ARGV   (id, due, frame)*    due: '+ms' from now, or ms since the epoch
-- return code*                1 stored, 2 stored before by this very send (same frame), 0 the id is live already
checkGroups(1, 3)
local dues, codes, entries, created, earliest, isCounted, news = {}, {}, {}, {}, nil, false, false
for i = 2, #ARGV, 3 do dues[i] = moment(ARGV[i]) end
local texts = {} -- of due times: those of one batch are often the same

local function add(id, due)
  local text = texts[due]
  if not text then
    text = string.format('%.0f', due)
    texts[due] = text
  end
  entries[#entries + 1], entries[#entries + 2] = text, id
  if not earliest or due < earliest then earliest = due end
end

-- There is a body already. Without a place it is what a failure has left over: it waits again, or is replaced if it is
-- unreadable.
local function meet(id, key, due, frame)
  local found = redis.call('MGET', key)[1]
  local code = found == frame and 2 or 0
  for _, own in ipairs(created) do
    if own == key then return code end -- repeated in this batch
  end
  if whereabouts(id) == 'lost' then
    add(id, due)
    if not found then
      redis.call('SET', key, frame)
      created[#created + 1] = key
      code = 1
    end
  end
  return code
end

-- The place comes last. A send that fails before has stored nothing.
entirely(function()
  for i = 1, #ARGV, 3 do
    local id, due, frame = ARGV[i], dues[i + 1], ARGV[i + 2]
    local key = message(id)
    if redis.call('SET', key, frame, 'NX') then
      codes[#codes + 1] = 1
      created[#created + 1] = key
      add(id, due)
    else
      codes[#codes + 1] = meet(id, key, due, frame)
    end
  end
  if #entries == 0 then return end
  count('sent', #created)
  isCounted = true
  news = isNews(earliest)
  redis.call('ZADD', waiting, unpack(entries))
end, function()
  if #created > 0 then redis.call('UNLINK', unpack(created)) end
  if isCounted then count('sent', -#created) end
end)
if news then ring(earliest) end
return codes
