-- Acknowledges what is given, then hands out what is due: the one round trip of a busy consumer.
-- The same request number again gets the same hand-out again, so that a lost reply costs nothing.
--
-- KEYS   prefix, settings
-- ARGV   owner, request number, how many (1 to 100), of these beside a lost one, lease ms, bytes of bodies, (id, number)*
--        the pairs are acknowledged
-- return now, status, next due or -1, next end of a lease or -1, {code*},
--        (id, number, due, failures, lost, releases, frame)*
--        status  1 claimed, 0 the shard is paused, -1 the owner has had the answer to a later request
--        code    1 acknowledged, 0 stale, -1 gone
--        frame   empty where somebody deleted it: the consumer is to fail the message; a number, its length, where it is
--                more than a quarter of the bytes: the consumer is to read it piece by piece
local owner, request = ARGV[1], whole(ARGV[2], 1, 2 ^ 53, 'request number')
local most, besideLost = whole(ARGV[3], 1, 100, 'count'), whole(ARGV[4], 0, 100, 'count')
local lease = duration(ARGV[5], 1, 10 ^ 11, 'lease')
local room = whole(ARGV[6], 1, 2 ^ 31, 'bytes')
checkGroups(7, 2)
local leaseEnd = string.format('%.0f', now + lease)
local memory = prefix .. 'claim:' .. owner
local codes, hasWritten = acknowledge(7)
local reply = {now, 1, -1, -1, codes}

local function handOut(id, number, due, s, frame)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = id, number, due
  reply[at + 4], reply[at + 5], reply[at + 6] = tonumber(s.failures), tonumber(s.lost), tonumber(s.releases)
  reply[at + 7] = frame
end

-- What the owner's last claim was answered: request number, first delivery number, ids.
local function remembered()
  local packed = redis.call('MGET', memory)[1]
  local isReadable, last = pcall(cmsgpack.unpack, packed or '')
  if packed and isReadable and type(last) == 'table' and tonumber(last[1]) and tonumber(last[2])
    and type(last[3]) == 'table' then return last end
end

-- Reads the bodies of the first n messages into what is known of them, as long as they fit into the reply. Returns how many
-- do, at least one. First a few: many large bodies would take Redis long to copy, only to be left out.
local function fill(n, messages, past)
  local sum, i = 0, 0
  while i < n do
    local areSmall = i > 0 and sum / i * n <= room
    local upTo = areSmall and n or math.min(n, i + 8)
    for _, frame in ipairs(redis.call('MGET', unpack(messages, i + 1, upTo))) do
      i = i + 1
      local size = frame and #frame or 0
      if size > room / 4 then
        frame = size
      else
        sum = sum + size
        if sum > room then return i - 1 end
      end
      past[i].frame = frame
    end
  end
  return n
end

-- The hand-out of the remembered request, without what has changed hands since.
local function again(last)
  local number, ids, found, messages, leases = last[2], {}, {}, {}, {}
  for i, id in ipairs(last[3]) do
    id = tostring(id)
    local s = parse(redis.call('HGET', states, id))
    if s and s.number == string.format('%.0f', number + i - 1) and redis.call('ZSCORE', inflight, id) then
      ids[#ids + 1], found[#found + 1], messages[#messages + 1] = id, s, message(id)
      leases[#leases + 1], leases[#leases + 2] = leaseEnd, id
    end
  end
  if #ids == 0 then return end
  local n = fill(#ids, messages, found)
  redis.call('ZREM', waiting, unpack(ids)) -- first, because a full Redis allows it; and in case that the claim stopped half way
  redis.call('ZADD', inflight, 'XX', 'GT', unpack(leases, 1, 2 * n))
  for i = 1, n do
    local s = found[i]
    handOut(ids[i], tonumber(s.number), tonumber(s.due), s, s.frame or '')
  end
  -- What no longer fits, waits again.
  for i = n + 1, #ids do
    redis.call('ZADD', waiting, found[i].due, ids[i])
    redis.call('ZREM', inflight, ids[i])
  end
end

-- What is due, and what was kept of it. A message that has lost a lease may be what kills its consumers, and all they hold
-- loses a lease with them: so beside one there are fewer, or only what comes before it.
local function due()
  local found = redis.call('ZRANGEBYSCORE', waiting, '-inf', string.format('%.0f', now), 'WITHSCORES',
    'LIMIT', '0', ARGV[3])
  local ids, messages, past, n = {}, {}, {}, #found / 2
  for i = 1, n do ids[i] = found[2 * i - 1] end
  local known = n > 0 and redis.call('HMGET', states, unpack(ids)) or {}
  for i, state in ipairs(known) do
    local due = tonumber(found[2 * i])
    local s = state and parse(state)
      or {number = false, failures = '0', lost = '0', releases = '0', due = '', owner = '', time = 0, frame = ''}
    if s.lost ~= '0' then n = math.min(n, math.max(besideLost, i - 1)) end
    s.time, s.due = due, found[2 * i]
    if due < 0 or due % 1 ~= 0 then s.time, s.due = now, string.format('%.0f', now) end -- no time: written by hand
    past[i], messages[i] = s, message(ids[i])
  end
  n = fill(n, messages, past)
  return n == #ids and ids or {unpack(ids, 1, n)}, past
end

-- Takes leases on all of these. What is in flight already, because a script stopped half way, is left to its holder, and
-- waits until that lease ends. Returns those that have a lease now.
local function take(ids, past)
  local leases, taken, takenPast = {}, {}, {}
  for i, id in ipairs(ids) do leases[2 * i - 1], leases[2 * i] = leaseEnd, id end
  if redis.call('ZADD', inflight, 'NX', unpack(leases)) == #ids then return ids, past end
  for i, score in ipairs(redis.call('ZMSCORE', inflight, unpack(ids))) do
    local isHeld = past[i].number and tonumber(score) > now and tonumber(score) ~= now + lease
    if isHeld then
      redis.call('ZADD', waiting, 'XX', score, ids[i])
    else
      redis.call('ZADD', inflight, 'XX', leaseEnd, ids[i])
      taken[#taken + 1], takenPast[#takenPast + 1] = ids[i], past[i]
    end
  end
  return taken, takenPast
end

local function claim(lastNumber)
  local ids, past = due()
  if #ids == 0 then return end
  if not hasWritten then admit() end
  -- The clock is the floor, so that a fail-over that lost the last number does not give it twice.
  local number = math.max(lastNumber + 1, micros)
  redis.call('HSET', settings, 'number', string.format('%.0f', number + #ids - 1))
  ids, past = take(ids, past)
  if #ids == 0 then return end
  entirely(function()
    local newStates = {}
    for i, id in ipairs(ids) do
      local s = past[i]
      s.number, s.owner = string.format('%.0f', number + i - 1), owner
      newStates[2 * i - 1], newStates[2 * i] = id, format(s)
      if not s.frame then redis.call('SET', message(id), '') end
      handOut(id, number + i - 1, s.time, s, s.frame or '')
    end
    redis.call('HSET', states, unpack(newStates))
    redis.call('SET', memory, cmsgpack.pack({request, number, ids}), 'PX',
      lease > 60000 and string.format('%.0f', lease) or '60000')
    redis.call('ZREM', waiting, unpack(ids)) -- last, so that a message is never in no place
  end, function() redis.call('ZREM', inflight, unpack(ids)) end)
end

-- The last delivery number of the shard. One that is unreadable counts as none: the clock goes on from there.
local function lastNumber(text)
  local n = string.find(text or '', '^%d+$') and tonumber(text)
  return n and n < 2 ^ 53 - 2 ^ 20 and n or 0
end

local last = remembered()
local kept = redis.call('HMGET', settings, 'number', 'paused')
if last and last[1] > request then
  reply[2] = -1
elseif last and last[1] == request then
  again(last)
elseif kept[2] then
  reply[2] = 0
else
  claim(lastNumber(kept[1]))
end
reply[3], reply[4] = not kept[2] and first(waiting) or -1, first(inflight) or -1
return reply
