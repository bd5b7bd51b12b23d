-- Checks pages of states, errors, ordering keys and counters, and repairs the remains of scripts that failed half way: a message
-- in no place waits again, state and errors of an ended one are removed, a key that an ended one holds is freed, unreadable
-- counters are computed from the messages. Errors of another type are refused, after all else. A call ends with the page that
-- repairs something, so that what it reports is not lost if the next page is refused.
--
-- KEYS   prefix, settings
-- ARGV   position, how many entries (1 to 100)    position: 'state:0' to begin, then the one that the last call returned
-- return next position or '', {id}*, how many leftovers, {counter}*
--        ids wait again, leftovers were removed, counters were set
checkCount(2)
local NEXT = {state = 'errors:0', errors = 'held:0', held = 'parked:0', parked = 'counters:0', counters = 'damage:0', damage = ''}
local position, seen = ARGV[1], 0 -- a page counts as ten entries at least: HSCAN of a large, sparse hash returns empty ones
local most = toInteger(ARGV[2], 1, 100, 'count')
check(NEXT[string.match(position, '^(%a+):%d+$')], 'not a position: ' .. position)
local back, leftovers, set = {}, 0, {}

-- Of messages in no place: those with a body wait again, the others have ended.
local function putBack(ids)
  local entries, ended, notes, earliest = {}, {}, {}, nil
  for _, id in ipairs(ids) do
    if redis.call('EXISTS', message(id)) == 1 then
      local s = parse(redis.call('HGET', states, id))
      local due = s and tonumber(s.due) or nowCeil
      entries[#entries + 1], entries[#entries + 2], back[#back + 1] = string.format('%d', due), id, id
      if not earliest or due < earliest then earliest = due end
    else
      ended[#ended + 1], notes[#notes + 1], notes[#notes + 2] = id, 'F' .. id, 'L' .. id
    end
  end
  local news = isNews(earliest)
  if #entries > 0 then
    allowWhenFull()
    redis.call('ZADD', waiting, unpack(entries))
  end
  if #ended > 0 then
    leftovers = leftovers + redis.call('HDEL', states, unpack(ended))
    leftovers = leftovers + (spare(redis.pcall('HDEL', errors, unpack(notes))) or 0)
  end
  if news then notify(earliest) end
end

-- A redrive or a death that stopped half way: the place that the message has left long ago.
local function finishMove(id, leaseEnd, diedAt, isWaiting)
  local s = leaseEnd and parse(redis.call('HGET', states, id))
  if diedAt and (isWaiting or s and tonumber(s.due) > tonumber(diedAt)) then
    leftovers = leftovers + redis.call('ZREM', dead, id)
  elseif leaseEnd and tonumber(leaseEnd) > now + 10 ^ 11 then
    redis.call('ZADD', inflight, 'XX', string.format('%d', now), id) -- no lease is that long: it ends now
    leftovers = leftovers + 1
  end
end

local function lookAt(ids)
  local lost = {}
  local leases, dues = redis.call('ZMSCORE', inflight, unpack(ids)), redis.call('ZMSCORE', waiting, unpack(ids))
  local deaths = redis.call('ZMSCORE', dead, unpack(ids))
  for i, id in ipairs(ids) do
    if leases[i] or deaths[i] and dues[i] then
      finishMove(id, leases[i], deaths[i], dues[i])
    elseif not dues[i] and not deaths[i] then
      lost[#lost + 1] = id
    end
  end
  if #lost > 0 then putBack(lost) end
end

-- Holders that have ended, or were never claimed, have no state.
local function freeKeys(entries)
  for i = 1, #entries, 2 do
    if not redis.call('HGET', states, entries[i + 1]) then
      allowWhenFull()
      local _, exposed = expose({'~~' .. entries[i] .. '~'})
      leftovers = leftovers + redis.call('HDEL', heldKeys, entries[i])
      if exposed then notify(exposed) end
    end
  end
end

-- Parked messages that their key does not name, and those of keys that nobody holds.
local function lookAtParked(entries)
  local keys, byKey, ids = {}, {}, {}
  for i = 1, #entries, 2 do
    local key = timeOf(entries[i + 1]) >= PARKED and keyOf(entries[i])
    if key and not byKey[key] then byKey[key], keys[#keys + 1] = {}, key end
    if key then
      local at = #byKey[key]
      byKey[key][at + 1], byKey[key][at + 2] = string.format('%d', dueOf(entries[i + 1])), entries[i]
    end
  end
  if #keys == 0 then return end
  allowWhenFull()
  local holders = redis.call('HMGET', heldKeys, unpack(keys))
  for i, key in ipairs(keys) do
    local named = spare(redis.pcall('ZADD', prefix .. 'parked:' .. key, 'NX', unpack(byKey[key])))
    if not named then -- it cannot name them: they wait for their time, and are parked again if it can
      redis.call('ZADD', waiting, 'XX', unpack(byKey[key]))
    else
      leftovers = leftovers + named
      if not holders[i] then ids[#ids + 1] = '~~' .. key .. '~' end
    end
  end
  local _, exposed = expose(ids)
  if exposed then notify(exposed) end
end

local function readable(text)
  return text and #text <= 15 and string.find(text, '^%d+$') and tonumber(text)
end

-- The ledger: sent = acknowledged + cancelled + purged + present. One unreadable term is computed from the others.
local function mendCounters()
  local names = {'sent', 'acknowledged', 'cancelled', 'purged', 'failed', 'lost', 'dead', 'redriven'}
  local keys, values, unreadable = {}, {}, {}
  for i, name in ipairs(names) do keys[i] = countKey(name) end
  local kept = redis.call('MGET', unpack(keys))
  for i, name in ipairs(names) do
    values[name] = readable(kept[i]) or 0
    local isOfAnotherType = not kept[i] and redis.call('EXISTS', keys[i]) == 1
    if isOfAnotherType or kept[i] and not readable(kept[i]) then unreadable[#unreadable + 1] = name end
  end
  local ended = values.acknowledged + values.cancelled + values.purged
  local there = redis.call('ZCARD', waiting) + redis.call('ZCARD', inflight) + redis.call('ZCARD', dead)
  if not kept[1] and unreadable[1] ~= 'sent' and ended + there > 0 then unreadable[#unreadable + 1] = 'sent' end
  local missing = ended + there - values.sent
  local isMiscounted = redis.call('HEXISTS', settings, 'miscounted') == 1
  if isMiscounted or #unreadable > 0 then allowWhenFull() end
  if #unreadable == 0 and missing ~= 0 and isMiscounted then
    local name = missing > 0 and 'sent' or 'acknowledged'
    redis.call('INCRBY', countKey(name), string.format('%d', math.abs(missing)))
    set[#set + 1] = name
  end
  if isMiscounted then redis.call('HDEL', settings, 'miscounted') end
  for _, name in ipairs(unreadable) do
    if name == 'sent' then
      values.sent, missing = ended + there, 0
    elseif (name == 'acknowledged' or name == 'cancelled' or name == 'purged') and missing < 0
      and readable(kept[1]) then
      values[name], missing = -missing, 0
    end
    redis.call('SET', countKey(name), string.format('%d', values[name]))
    set[#set + 1] = name
  end
end

-- Errors of another type are reported at the end.
local function scan(hash, cursor)
  if hash == 'state' then return redis.call('HSCAN', states, cursor, 'COUNT', most) end
  return spare(redis.pcall('HSCAN', errors, cursor, 'COUNT', most)) or {'0', {}}
end

-- State and errors. A small hash is one page, with any number of fields.
local function lookAtMessages(hash, cursor)
  local page, ids, known = scan(hash, cursor), {}, {}
  for i = 1, #page[2], 2 do
    local id = hash == 'errors' and string.sub(page[2][i], 2) or page[2][i]
    if not known[id] then known[id], ids[#ids + 1] = true, id end
  end
  for i = 1, #ids, 100 do lookAt({unpack(ids, i, math.min(#ids, i + 99))}) end
  seen = seen + math.max(#ids, 10)
  if page[1] ~= '0' then return hash .. ':' .. page[1] end
  local last = hash == 'errors' and redis.call('ZRANGE', waiting, '-1', '-1', 'WITHSCORES')
  local hasKeys = not last or last[2] and timeOf(last[2]) >= PARKED or redis.call('EXISTS', heldKeys) == 1
  return hasKeys and NEXT[hash] or 'counters:0'
end

local function lookAtHeld(cursor)
  local page = redis.call('HSCAN', heldKeys, cursor, 'COUNT', most)
  freeKeys(page[2])
  seen = seen + math.max(#page[2] / 2, 10)
  return page[1] ~= '0' and 'held:' .. page[1] or NEXT.held
end

-- From the end: parked messages are the last ones.
local function lookAtParkedFrom(cursor)
  local to = cursor + most
  local entries = redis.call('ZRANGE', waiting, string.format('%d', -to), string.format('%d', -cursor - 1), 'WITHSCORES')
  lookAtParked(entries)
  seen = seen + #entries / 2
  local isMore = #entries == 2 * most and timeOf(entries[2]) >= PARKED
  return isMore and 'parked:' .. string.format('%d', to) or NEXT.parked
end

local function lookAtPage(hash, cursor)
  if hash == 'counters' then mendCounters() return NEXT.counters end
  if hash == 'damage' then redis.call('HEXISTS', errors, '-') return NEXT.damage end -- raises if it is no hash
  if hash == 'held' then return lookAtHeld(cursor) end
  if hash == 'parked' then return lookAtParkedFrom(tonumber(cursor)) end
  return lookAtMessages(hash, cursor)
end

repeat
  position = lookAtPage(string.match(position, '^(%a+):(%d+)$'))
until position == '' or seen >= most or #back + leftovers + #set > 0
return {position, back, leftovers, set}
