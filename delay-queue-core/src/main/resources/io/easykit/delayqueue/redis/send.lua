-- Stores messages that wait for their time. An id that is live is left alone.
-- A full Redis refuses it whole, as reschedule and replace: its first write is one that grows.
--
-- The first part is for new messages, as nearly all sends have them. It declares no function and stores all bodies by one command. That
-- saves Redis 42 % of its instructions for one message with a time ("counted q1" of benchmarks/README.md), 31 % for one with a delay, and
-- 10 % for a hundred ("counted scripts"). What is unusual, or fails, changes nothing there, and goes to the second part.
--
-- KEYS   prefix, settings
-- ARGV   (id, due, frame)*     due: '+ms' from now, or ms since the epoch
-- return code*, as one text    1 stored, 2 stored before by this very send (same frame), 0 the id is live already
local args, try, n = ARGV, redis.pcall, #ARGV / 3
local entries, bodies = n > 1 and {}, n > 1 and {} -- one message needs none
local id, said, due, frame, earliest, clock
for i = 1, n do
  local text = args[3 * i - 1]
  id, frame = args[3 * i - 2], args[3 * i]
  if text ~= said then -- the due times of one batch are often the same
    said, due = text, string.find(text, '^%d+$') and text
    if not due and string.find(text, '^%+%d+$') then
      clock = clock or redis.call('TIME')
      due = string.format('%d', math.ceil((clock[1] * 1000000 + clock[2]) / 1000) + text)
    end
    if not earliest or due and tonumber(due) < tonumber(earliest) then earliest = due end
  end
  if not due or #due > 15 or #frame >= LARGE or entries and entries[id] then
    earliest = nil
    break
  end
  if entries then
    entries[2 * i - 1], entries[2 * i], entries[id] = due, id, true
    bodies[2 * i - 1], bodies[2 * i] = prefix .. 'm:' .. id, frame
  end
end
if earliest and n % 1 == 0 and n <= 100 then
  local news = entries and redis.call('ZCOUNT', waiting, '-inf', earliest) == 0
  if news then -- a time that has passed counts as now
    clock = clock or redis.call('TIME')
    local present = math.floor((clock[1] * 1000000 + clock[2]) / 1000)
    news = tonumber(earliest) >= present or redis.call('ZCOUNT', waiting, '-inf', string.format('%d', present)) == 0
  end
  local stored, counted, placed
  if bodies then stored = try('MSETNX', unpack(bodies)) else stored = try('MSETNX', prefix .. 'm:' .. id, frame) end
  if stored == 1 then
    local total, sent = prefix .. 'count:sent', entries and string.format('%d', n) or '1'
    counted = try('INCRBY', total, sent)
    if type(counted) == 'number' then
      if entries then placed = try('ZADD', waiting, unpack(entries)) else placed = try('ZADD', waiting, due, id) end
      if type(placed) == 'number' then
        if not entries then -- most come behind others, and a look at the rank is cheaper than to count before
          local ahead = try('ZRANK', waiting, id)
          if ahead == 0 then
            clock = clock or redis.call('TIME')
            local present = math.floor((clock[1] * 1000000 + clock[2]) / 1000)
            local there = try('ZCOUNT', waiting, '-inf', string.format('%d', math.max(due, present)))
            ahead = type(there) == 'number' and there - 1
          end
          news = ahead == 0 or not tonumber(ahead)
        end
        if news then redis.pcall('PUBLISH', prefix .. 'wakeup', earliest) end
        return entries and string.rep('1', n) or '1'
      end
      try('INCRBY', total, '-' .. sent)
    end
    for i = 1, n do try('UNLINK', prefix .. 'm:' .. args[3 * i - 2]) end
  end
end

---- Second part
checkGroups(1, 3)
local hasLarge, text = false, nil
entries, said, due, earliest = {}, nil, nil, nil
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
