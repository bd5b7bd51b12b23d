-- Acknowledges the given messages, then hands out due ones: the one round trip of a busy consumer.
-- The same request number again gets the same hand-out again, so that a lost reply costs nothing.
--
-- KEYS   prefix, settings
-- ARGV   owner, request number, how many (1 to 100), of these beside a lost one, lease ms, bytes of bodies, limits, (id, number)*
--        the pairs are acknowledged
--        limits  empty, or step:burst:places, the share that this shard has of the limits of its topic. A permit for one message
--                comes each step, in us, and up to burst of them are kept; at most places messages are in flight. 0 is no such limit.
--                Then may follow :permits:until, those that lend took in other shards for this claim, and when they lapse, in ms
-- return now, status, next due or -1, next end of a lease or -1, code* as one text,
--        (id, number, due, failures, lost, releases, frame)*
--        status  1 claimed, 0 the shard is paused, -1 the owner has had the answer to a later request, 2 no permit is left for the
--                messages that are due, and next due is when there are some, 3 no place is left for them, and next due is -1
--        code    1 acknowledged, 0 stale, 2 gone
--        frame   empty if the body is missing: the consumer is to fail the message; a number, its length, if it is
--                more than a quarter of the bytes: the consumer is to read it piece by piece. It counts as a quarter
local owner, request = ARGV[1], toInteger(ARGV[2], 1, 2 ^ 53, 'request number')
local most, besideLost = toInteger(ARGV[3], 1, 100, 'count'), toInteger(ARGV[4], 0, 100, 'count')
local lease = duration(ARGV[5], 1, 10 ^ 11, 'lease')
local mostText, space = ARGV[3], toInteger(ARGV[6], 1, 2 ^ 31, 'bytes')
checkGroups(8, 2)
local lastClaim = prefix .. 'claim:' .. owner
local codes, hasWritten, hasLarge, exposed = '', false, false, nil
if #ARGV > 7 then
  codes, hasWritten, exposed = acknowledge(8)
  codes = table.concat(codes)
end
local reply = {now, 1, -1, -1, codes}
local flow -- only where there are limits, so that other topics do not pay for them
if ARGV[7] ~= '' then
  local share, step, burst, places, more = string.match(ARGV[7], '^((%d+):(%d+):(%d+))(.*)$')
  check(places, 'limits are not step:burst:places: ' .. ARGV[7])
  flow = {step = toInteger(step, 0, 2 ^ 47, 'step'), burst = toInteger(burst, 0, 10 ^ 5, 'burst'),
    places = toInteger(places, 0, 10 ^ 6, 'places'), key = prefix .. 'flow', asked = 0, borrowed = 0}
  if more ~= '' then
    local permits, untilWhen = string.match(more, '^:(%d+):(%d+)$')
    local left = toInteger(untilWhen, 0, 2 ^ 53, 'until') - now
    flow.asked = toInteger(permits, 0, 100, 'permits')
    -- Not much later than they were taken, nor after a step back of the clock.
    if left >= 0 and left <= 100 then flow.borrowed = flow.asked end
  end
  -- Permits, in millionths, that were there at a time in us, and whether a consumer waits for a place.
  local kept, at, isAwaited = string.match(redis.call('MGET', flow.key)[1] or '', '^(%d+):(%d+):([01]):')
  flow.isAwaited = isAwaited == '1'
  flow.kept, flow.at = math.min(tonumber(kept or flow.burst * 10 ^ 6), flow.burst * 10 ^ 6), tonumber(at or micros)
  -- The clock has stepped back: permits come again from now on.
  flow.isLate = flow.at > micros
  if flow.isLate then flow.at = micros end

  function flow.millionths()
    return math.min(flow.burst * 10 ^ 6, flow.kept + math.floor((micros - flow.at) * 10 ^ 6 / flow.step))
  end

  function flow.permits() return flow.step > 0 and math.floor(flow.millionths() / 10 ^ 6) or 100 end

  -- With expired leases, whose holders may renew them until somebody reaps them.
  function flow.spare() return flow.places > 0 and flow.places - redis.call('ZCARD', inflight) or 100 end

  -- Uses permits for so many messages, or gives them back if the number is negative. Before the messages move: a script that stops
  -- half way has used too many permits, and never too few.
  function flow.use(n)
    local ttl = 3600000
    if flow.step > 0 then
      flow.kept, flow.at = math.max(0, math.min(flow.burst * 10 ^ 6, flow.millionths() - n * 10 ^ 6)), micros
      ttl = ttl + math.ceil((flow.burst * 10 ^ 6 - flow.kept) * flow.step / 10 ^ 9)
    end
    allowWhenFull()
    hasWritten = true
    redis.call('SET', flow.key, string.format('%d:%d:%d:', flow.kept, flow.at, flow.isAwaited and 1 or 0) .. share, 'PX',
      string.format('%d', ttl))
  end

  -- When the next permits come, in ms: those of 5 ms together, which saves claims.
  function flow.nextPermits()
    local some = math.max(1, math.min(flow.burst, math.floor(5000 / flow.step)))
    return math.ceil((flow.at + math.ceil((some * 10 ^ 6 - flow.kept) * flow.step / 10 ^ 6)) / 1000)
  end
end

-- past: the parsed state of the message, or nil
local function handOut(id, number, due, past, frame)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = id, number, due
  if past then
    reply[at + 4], reply[at + 5], reply[at + 6] = tonumber(past.failures), tonumber(past.lost), tonumber(past.releases)
  else
    reply[at + 4], reply[at + 5], reply[at + 6] = 0, 0, 0
  end
  reply[at + 7] = frame or ''
end

-- The reply to the owner's last claim: request number, first delivery number, ids. nil if that was an earlier request,
-- or is unreadable. The request number is read alone first, because nearly always it is an earlier one.
local function remembered()
  local packed = redis.call('MGET', lastClaim)[1]
  if not packed then return end
  local isReadable, _, last = pcall(cmsgpack.unpack_one, packed, 1)
  if isReadable and type(last) == 'number' and last < request then return end
  isReadable, last = pcall(cmsgpack.unpack, packed)
  if isReadable and type(last) == 'table' and tonumber(last[1]) and tonumber(last[2]) and type(last[3]) == 'table' then
    return last
  end
end

-- Reads the bodies of the first n messages, as long as they fit into the reply. Returns how many do, at least four if there
-- are as many, and them. First a few, and the rest at once if these are small. Where the shard has large ones, their sizes
-- first: Redis would take long to copy them, only to leave them out.
local function read(n, messages)
  if n == 1 and not hasLarge then
    local frame = redis.call('MGET', messages[1])[1]
    hasLarge = frame and #frame >= LARGE
    return 1, {frame and #frame > space / 4 and #frame or frame}
  end
  local frames, sum, i = {}, 0, 0
  while i < n and not hasLarge do
    local areSmall = i > 0 and sum / i * n <= space
    local upTo = areSmall and n or math.min(n, i + 8)
    for _, frame in ipairs(redis.call('MGET', unpack(messages, i + 1, upTo))) do
      local size = frame and #frame or 0
      if size >= LARGE then hasLarge = true end
      sum = sum + math.min(size, space / 4)
      if sum > space then return i, frames end
      i = i + 1
      frames[i] = size > space / 4 and size or frame
    end
  end
  local small, places = {}, {}
  for at = i + 1, n do
    local size = spare(redis.pcall('STRLEN', messages[at])) or 0
    sum = sum + math.min(size, space / 4)
    if sum > space then
      n = at - 1
      break
    end
    if size > space / 4 then
      frames[at] = size
    else
      small[#small + 1], places[#places + 1] = messages[at], at
    end
  end
  if #small > 0 then
    for k, frame in ipairs(redis.call('MGET', unpack(small))) do frames[places[k]] = frame end
  end
  return n, frames
end

-- Parks messages behind the holders of their ordering keys. The list of the parked ones comes first, so that it names each. If
-- it has another type, they stay due.
local function park(entries)
  allowWhenFull()
  hasWritten = true
  local scores = {}
  for _, entry in ipairs(entries) do
    local due = timeOf(entry[3])
    if spare(redis.pcall('ZADD', prefix .. 'parked:' .. entry[2], string.format('%d', due), entry[1])) then
      scores[#scores + 1], scores[#scores + 2] = string.format('%d', PARKED + due), entry[1]
    end
  end
  if #scores > 0 then redis.call('ZADD', waiting, 'XX', unpack(scores)) end
end

-- The holder of the ordering key of each of these messages. One that has ended, or was never claimed, has no state, and
-- holds nothing: a script stopped half way.
local function holders(found)
  local keys, byKey = {}, {}
  for i = 1, #found, 2 do
    local key = keyOf(found[i])
    if key and byKey[key] == nil then byKey[key], keys[#keys + 1] = false, key end
  end
  if #keys == 0 then return byKey end
  local ids, holding = redis.call('HMGET', heldKeys, unpack(keys)), {}
  for i, key in ipairs(keys) do
    if ids[i] then holding[#holding + 1], byKey[key] = key, ids[i] end
  end
  if #holding == 0 then return byKey end
  for i, key in ipairs(holding) do ids[i] = byKey[key] end
  for i, state in ipairs(redis.call('HMGET', states, unpack(ids, 1, #holding))) do
    if not state then byKey[holding[i]] = false end
  end
  return byKey
end

-- Of these due messages, those whose turn it is: of each ordering key its holder, or else the first. The others are parked, and
-- further ones take their places: up to five times, so that a long queue of one key does not keep Redis busy.
local function inTurn(found)
  local turns, isTaken, byKey = {}, {}, {}
  for round = 1, 5 do
    local holder, behind = holders(found), {}
    for i = 1, #found, 2 do
      local id, key = found[i], keyOf(found[i])
      local before = key and (byKey[key] or holder[key])
      if #turns == 2 * most then break end
      if before and before ~= id then
        behind[#behind + 1] = {id, key, found[i + 1]}
      elseif not isTaken[id] then
        isTaken[id] = true
        if key then byKey[key] = id end
        turns[#turns + 1], turns[#turns + 2] = id, found[i + 1]
      end
    end
    if #behind == 0 then break end
    park(behind)
    if #turns == 2 * most or round == 5 then break end
    found = redis.call('ZRANGEBYSCORE', waiting, '-inf', string.format('%d', now),
      'WITHSCORES', 'LIMIT', #turns / 2, 100)
  end
  return turns
end

-- The due messages, in lists: ids, due times as text, parsed states (false for none), and bodies. A message that has lost a
-- lease may be one that kills its consumers, and all their messages lose a lease with them. So beside one there are fewer, or
-- only the earlier ones.
local function due()
  local found = redis.call('ZRANGEBYSCORE', waiting, '-inf', string.format('%d', now), 'WITHSCORES',
    'LIMIT', '0', mostText)
  for i = 1, #found, 2 do
    if keyOf(found[i]) then
      found = inTurn(found)
      break
    end
  end
  local n = #found / 2
  if n == 0 then return found end
  local ids, dues, messages = {}, {}, {}
  for i = 1, n do
    local text = found[2 * i]
    if not string.find(text, '^%d+$') then text = string.format('%d', now) end -- no time: written by hand
    ids[i], dues[i], messages[i] = found[2 * i - 1], text, message(found[2 * i - 1])
  end
  local past = redis.call('HMGET', states, unpack(ids))
  for i = 1, n do
    local s = past[i] and parse(past[i])
    past[i] = s
    if s and s.lost ~= '0' then n = math.min(n, math.max(besideLost, i - 1)) end
  end
  local frames
  n, frames = read(n, messages)
  return n == #ids and ids or {unpack(ids, 1, n)}, dues, past, frames
end

-- Takes leases on all of these. A message that is in flight already, because a script stopped half way, is left to its holder,
-- and waits until that lease ends. Returns the lists of the messages that have a lease now.
local function take(ids, dues, past, frames)
  local leases, leaseEnd = {}, string.format('%d', now + lease)
  for i = 1, #ids do leases[2 * i - 1], leases[2 * i] = leaseEnd, ids[i] end
  if redis.call('ZADD', inflight, 'NX', unpack(leases)) == #ids then return ids, dues, past, frames end
  local taken, takenDues, takenPast, takenFrames, n = {}, {}, {}, {}, 0
  for i, score in ipairs(redis.call('ZMSCORE', inflight, unpack(ids))) do
    local isHeld = past[i] and tonumber(score) > now and tonumber(score) ~= now + lease
    if isHeld then
      redis.call('ZADD', waiting, 'XX', score, ids[i])
    else
      redis.call('ZADD', inflight, 'XX', leaseEnd, ids[i])
      n = n + 1
      taken[n], takenDues[n], takenPast[n], takenFrames[n] = ids[i], dues[i], past[i], frames[i]
    end
  end
  return taken, takenDues, takenPast, takenFrames
end

-- The messages hold their ordering keys until they end.
local function hold(ids)
  local entries = {}
  for _, id in ipairs(ids) do
    local key = keyOf(id)
    if key then entries[#entries + 1], entries[#entries + 2] = key, id end
  end
  if #entries > 0 then redis.call('HSET', heldKeys, unpack(entries)) end
end

local function claim(lastNumber)
  local ids, dues, past, frames = due()
  if #ids == 0 then return end
  if flow then flow.use(math.max(0, #ids - flow.borrowed)) end
  if not hasWritten then allowWhenFull() end
  -- The clock is the floor, so that a fail-over that lost the last number does not give it twice, unless the clock has stepped back.
  local number = math.max(lastNumber + 1, micros)
  redis.call('HSET', settings, 'number', string.format('%d', number + #ids - 1))
  hold(ids)
  ids, dues, past, frames = take(ids, dues, past, frames)
  if #ids == 0 then return end
  local newStates, failure = {}, nil
  for i, id in ipairs(ids) do
    local s, history = past[i], ':0:0:0:'
    if s then history = ':' .. s.failures .. ':' .. s.lost .. ':' .. s.releases .. ':' end
    newStates[2 * i - 1] = id
    newStates[2 * i] = string.format('%d', number + i - 1) .. history .. dues[i] .. ':' .. owner
    if not frames[i] then failure = failure or errorOf(redis.pcall('SET', message(id), '')) end
    handOut(id, number + i - 1, tonumber(dues[i]), s, frames[i])
  end
  local ttl = lease > 60000 and string.format('%d', lease) or '60000'
  failure = failure
    or errorOf(redis.pcall('HSET', states, unpack(newStates)))
    or errorOf(redis.pcall('SET', lastClaim, cmsgpack.pack({request, number, ids}), 'PX', ttl))
    or errorOf(redis.pcall('ZREM', waiting, unpack(ids))) -- last, so that a message is never in no place
  if failure then
    redis.pcall('ZREM', inflight, unpack(ids))
    error(failure, 0)
  end
end

local last = remembered()
local kept = redis.call('HMGET', settings, 'number', 'paused', 'large')
hasLarge = kept[3] and true
if last and last[1] > request then
  reply[2] = -1
elseif last and last[1] == request then
  -- The same hand-out, without messages that have changed hands since.
  local number, ids, found, messages, leases = last[2], {}, {}, {}, {}
  local leaseEnd = string.format('%d', now + lease)
  for i, id in ipairs(last[3]) do
    id = tostring(id)
    local s = parse(redis.call('HGET', states, id))
    if s and s.number == string.format('%d', number + i - 1) and redis.call('ZSCORE', inflight, id) then
      ids[#ids + 1], found[#found + 1], messages[#messages + 1] = id, s, message(id)
      leases[#leases + 1], leases[#leases + 2] = leaseEnd, id
    end
  end
  if #ids > 0 then
    local n, frames = read(#ids, messages)
    redis.call('ZREM', waiting, unpack(ids)) -- first: a full Redis allows it, and the claim may have stopped before it
    redis.call('ZADD', inflight, 'XX', 'GT', unpack(leases, 1, 2 * n))
    for i = 1, n do
      local s = found[i]
      handOut(ids[i], tonumber(s.number), tonumber(s.due), s, frames[i])
    end
    -- Messages that no longer fit wait again, and give their permits back, without those of other shards.
    for i = n + 1, #ids do
      redis.call('ZADD', waiting, found[i].due, ids[i])
      redis.call('ZREM', inflight, ids[i])
    end
    if flow and n < #ids then flow.use(math.max(0, n - flow.asked) - math.max(0, #ids - flow.asked)) end
  end
elseif kept[2] then
  reply[2] = 0
else
  -- A last number that is unreadable counts as none: the clock goes on from there.
  local lastNumber = string.find(kept[1] or '', '^%d+$') and tonumber(kept[1])
  if flow then
    most = math.max(0, math.min(most, flow.permits() + flow.borrowed, flow.spare()))
    besideLost, mostText = math.min(besideLost, most), string.format('%d', most)
  end
  if most > 0 then claim(lastNumber and lastNumber < 2 ^ 53 - 2 ^ 20 and lastNumber or 0) end
end
-- An earlier version of this library stored large bodies without this note.
if hasLarge and not kept[3] then redis.pcall('HSET', settings, 'large', '1') end
local nextDue = not kept[2] and first(waiting)
reply[3], reply[4] = nextDue and nextDue < PARKED and nextDue or -1, first(inflight) or -1
local isLeft = reply[3] ~= -1 and reply[3] <= now -- for other consumers
if flow and reply[2] == 1 then
  local hasPlace = flow.spare() > 0
  exposed = exposed or hasPlace and flow.isAwaited
  if isLeft and not hasPlace then reply[2] = 3 elseif isLeft and flow.permits() < 1 then reply[2] = 2 end
  local changes = flow.isAwaited == hasPlace and (hasPlace or isLeft)
  if changes then flow.isAwaited = not hasPlace end
  if changes or flow.isLate then flow.use(0) end
end
if exposed and isLeft then notify(reply[3]) end
if reply[2] > 1 then reply[3] = reply[2] == 2 and flow.nextPermits() or -1 end
return reply
