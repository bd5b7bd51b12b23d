-- Stores messages that wait for their time. An id that is live is left alone.
-- The only move beside reschedule that a full Redis refuses, and then whole: its first write is one that grows.
--
-- KEYS   prefix, settings
-- ARGV   (id, due, frame)*     due: '+ms' from now, or ms since the epoch
-- return code*, as one text    1 stored, 2 stored before by this very send (same frame), 0 the id is live already
checkGroups(1, 3)
local entries, codes, created, n, earliest, met = {}, {}, {}, 0, nil, false
local said, due, text
for i = 1, #ARGV, 3 do
  if ARGV[i + 1] ~= said then -- the due times of one batch are often the same
    said = ARGV[i + 1]
    due, text = moment(said)
    if n == 0 or due < earliest then earliest = due end
  end
  entries[n + 1], entries[n + 2] = text, ARGV[i]
  n = n + 2
end
local news = isNews(earliest)
local failure
for i = 1, #ARGV, 3 do
  local key = message(ARGV[i])
  local reply = redis.pcall('SET', key, ARGV[i + 2], 'NX')
  if not reply then
    codes[#codes + 1] = '0'
    met = true
  elseif reply.err then
    failure = reply.err
    break
  else
    codes[#codes + 1] = '1'
    created[#created + 1] = key
  end
end

-- Some have a body already. One without a place is what a failure has left over: it waits again, or is replaced if it is
-- unreadable. The others do not come to wait.
if met and not failure then
  local all, _ = entries, nil
  entries, earliest = {}, nil

  local function meet(id, frame)
    local key = message(id)
    local found = redis.call('MGET', key)[1]
    local code = found == frame and '2' or '0'
    for _, own in ipairs(created) do
      if own == key then return code, false end -- repeated in this batch
    end
    if whereabouts(id) ~= 'lost' then return code, false end
    if found then return code, true end
    redis.call('SET', key, frame)
    created[#created + 1] = key
    return '1', true
  end

  _, failure = pcall(function()
    for i, code in ipairs(codes) do
      local waits = code == '1'
      if not waits then codes[i], waits = meet(ARGV[3 * i - 2], ARGV[3 * i]) end
      if waits then
        entries[#entries + 1], entries[#entries + 2] = all[2 * i - 1], all[2 * i]
        earliest = math.min(earliest or math.huge, tonumber(all[2 * i - 1]))
      end
    end
    news = isNews(earliest)
  end)
end

-- The place comes last. A send that fails before has stored nothing.
local isCounted = false
if not failure and #entries > 0 then
  isCounted, failure = pcall(count, 'sent', #created)
  if isCounted then failure = errorOf(redis.pcall('ZADD', waiting, unpack(entries))) end
end
if failure then
  if #created > 0 then redis.pcall('UNLINK', unpack(created)) end
  if isCounted then pcall(count, 'sent', -#created) end
  error(failure, 0)
end
if news then ring(earliest) end
return table.concat(codes)
