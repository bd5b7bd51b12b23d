-- Stores messages that wait for their time. An id that is live is left alone.
-- The only move beside reschedule that a full Redis refuses, and then whole: its first write is one that grows.
--
-- KEYS   prefix, settings
-- ARGV   (id, due, frame)*     due: '+ms' from now, or ms since the epoch
-- return code*, as one text    1 stored, 2 stored before by this very send (same frame), 0 the id is live already
checkGroups(1, 3)
local n, entries, earliest, hasLarge = #ARGV / 3, {}, nil, false
local said, due, text
for i = 1, n do
  if ARGV[3 * i - 1] ~= said then -- the due times of one batch are often the same
    said = ARGV[3 * i - 1]
    due, text = parseDue(said)
    if not earliest or due < earliest then earliest = due end
  end
  entries[2 * i - 1], entries[2 * i] = text, ARGV[3 * i - 2]
  if #ARGV[3 * i] >= LARGE then hasLarge = true end
end
local news = isNews(earliest)
if hasLarge then noteLarge() end

-- The bodies come first, the places last.
local failure
local done, codes = 0, nil -- without codes all that are done were stored
for i = 1, n do
  local reply = redis.pcall('SET', prefix .. 'm:' .. ARGV[3 * i - 2], ARGV[3 * i], 'NX')
  if not reply and not codes then
    codes = {}
    for earlier = 1, done do codes[earlier] = '1' end
  elseif reply and reply.err then
    failure = reply.err
    break
  end
  if codes then codes[i] = reply and '1' or '0' end
  done = i
end

-- Some have a body already. One without a place was left over by a failure: it waits again, or is replaced if it is
-- unreadable. The others do not come to wait.
if codes and not failure then
  local all, _ = entries, nil
  entries, earliest = {}, nil

  local function meet(i)
    local id, frame = ARGV[3 * i - 2], ARGV[3 * i]
    local code = isBody(id, frame) and '2' or '0'
    for other = 1, n do
      if codes[other] == '1' and ARGV[3 * other - 2] == id then return code, false end -- repeated in this batch
    end
    if whereabouts(id) ~= 'lost' then return code, false end
    if spare(redis.pcall('STRLEN', message(id))) then return code, true end -- readable
    redis.call('SET', message(id), frame)
    return '1', true
  end

  _, failure = pcall(function()
    for i, code in ipairs(codes) do
      local waits = code == '1'
      if not waits then codes[i], waits = meet(i) end
      if waits then
        entries[#entries + 1], entries[#entries + 2] = all[2 * i - 1], all[2 * i]
        earliest = math.min(earliest or math.huge, tonumber(all[2 * i - 1]))
      end
    end
    news = isNews(earliest)
  end)
end
codes = codes and table.concat(codes) or string.rep('1', done)
local stored = codes == '1' and 1 or select(2, string.gsub(codes, '1', ''))

-- A send that fails before the places has stored nothing.
local isCounted = false
if not failure and #entries > 0 then
  isCounted, failure = pcall(count, 'sent', stored)
  if isCounted then failure = errorOf(redis.pcall('ZADD', waiting, unpack(entries))) end
end
if failure then
  for i = 1, done do
    if string.sub(codes, i, i) == '1' then redis.pcall('UNLINK', message(ARGV[3 * i - 2])) end
  end
  if isCounted then pcall(count, 'sent', -stored) end
  error(failure, 0)
end
if news then notify(earliest) end
return codes
