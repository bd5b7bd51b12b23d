-- In front of every script when it is loaded: the names of the keys, the time, and the moves that scripts share. A script
-- gets the blocks that it uses. Blank lines separate blocks, and stand nowhere else.
--
-- KEYS   prefix, settings
--        prefix    start of all keys of the shard, "<key prefix>{topic:shard}:". No key has this name: see
--                  docs/delay-queue/internals.md, "Keys"
--        settings  hash with the settings of the shard
-- ARGV   as in the header of the script. (…)* stands for any number of groups up to 100, one for each message
-- return as in the header of the script. code* as one text has one character for each message, in the order of ARGV. An
--        argument that cannot be is the error "delay-queue: …", and nothing is changed
--
-- Redis does not undo the writes of a script that fails, and every redis.call can fail: a permission is missing, a key has
-- another type. Three rules keep each message in at least one place:
--   1. Check arguments and read before the first write.
--   2. Write the new place before you remove the old one. A message in two places counts as in flight. The script that
--      settles it removes it from every place.
--   3. Where a message ends or begins, take back the earlier writes if the rest fails.
-- Unreadable values count as absent. repair.lua finishes moves that stopped half way.
--
-- Hot scripts are send, claim and acknowledge. Measured there, in Redis 6.2 and 7.0: a plain command 0.2 to 0.5 us, a number as
-- its argument 0.27 us more, text of '%d' 0.14 us, of '%.0f' 0.28 us, a score in a reply 0.45 us, a list in a reply 0.3 to 1 us, a
-- function that is declared 0.03 us, and as much for each local that it uses from outside. So numbers go to commands as text
-- of '%d', complaints are put together when they are raised, and functions make the names of rare keys themselves.
local prefix, settings = KEYS[1], KEYS[2]

local waiting = prefix .. 'waiting'

local inflight = prefix .. 'inflight'

local dead = prefix .. 'dead'

local states = prefix .. 'state'

local errors = prefix .. 'errors'

local heldKeys = prefix .. 'held'

local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]

local now = math.floor(micros / 1000) -- what due times are compared with: never early

local nowCeil = math.ceil(micros / 1000) -- what a delay counts from

local function check(holds, complaint)
  if not holds then error('delay-queue: ' .. complaint, 0) end
end

local function toInteger(text, least, most, name)
  local n = string.find(text or '', '^%d+$') and tonumber(text)
  if n and n >= least and n <= most then return n end
  error('delay-queue: ' .. name .. ' out of range: ' .. tostring(text), 0)
end

-- A duration. Above the longest one it is cut to the longest one.
local function duration(text, least, most, name) return math.min(toInteger(text, least, 10 ^ 300, name), most) end

local function checkCount(n)
  if #ARGV ~= n then error('delay-queue: takes ' .. n .. ' arguments, not ' .. #ARGV, 0) end
end

-- The message arguments from the given one on come in groups of the given size, at most 100 groups.
local function checkGroups(from, size)
  local n = (#ARGV - from + 1) / size
  if n % 1 ~= 0 or n > 100 then error('delay-queue: incomplete group of arguments, or more than 100 messages', 0) end
end

-- '+ms' counts from now, anything else is ms since the epoch. Returns a number, and it as text.
local function parseDue(text)
  local isDelay = string.byte(text) == 43 -- '+'
  if not string.find(text, '^%+?%d+$') or #text > (isDelay and 16 or 15) then error('delay-queue: not a time: ' .. text, 0) end
  if not isDelay then return tonumber(text), text end
  local due = nowCeil + text
  return due, string.format('%d', due)
end

local function message(id) return KEYS[1] .. 'm:' .. id end

-- The error of a redis.pcall, or nil.
local function errorOf(reply) return type(reply) == 'table' and reply.err or nil end

-- The reply of a redis.pcall on which no message depends: nil if the key has another type or the counter is no number, which
-- repair.lua reports. Other errors are raised.
local function spare(reply)
  local failure = errorOf(reply)
  if not failure then return reply end
  local isDamaged = string.find(failure, 'WRONGTYPE', 1, true) or string.find(failure, 'not an integer', 1, true)
    or string.find(failure, 'overflow', 1, true)
  if not isDamaged then error(failure, 0) end
end

-- Size in bytes from which a body is large. The first large body is noted in the settings of its shard. From then on claims
-- read the sizes of bodies first. Otherwise a claim whose first eight bodies are small could copy 92 large ones for a reply
-- with room for few.
local LARGE = 8192

-- pcall: a send must not fail because of the note. Otherwise the first claim that reads a large body sets it.
local function noteLarge() redis.pcall('HSET', KEYS[2], 'large', '1') end

-- Whether the body of this id is this very frame. A body of another length is not read.
local function isBody(id, frame)
  return spare(redis.pcall('STRLEN', message(id))) == #frame and redis.call('MGET', message(id))[1] == frame
end

local function countKey(counter) return KEYS[1] .. 'count:' .. counter end

local function count(counter, n)
  if n == 0 then return end
  local reply = redis.pcall('INCRBY', countKey(counter), string.format('%d', n))
  if type(reply) ~= 'number' and not spare(reply) then
    redis.pcall('HSET', KEYS[2], 'miscounted', '1') -- repair.lua balances the ledger
  end
end

-- A full Redis refuses a script at its first growing command, unless it has written before. This write of nothing, which
-- is always allowed, lets a move that must go on when Redis is full run to its end.
local function allowWhenFull() redis.call('UNLINK', prefix) end

-- The parts of a state, all as text: Lua calculates with text as well, and parts that are only passed on cost no conversion.
-- nil if it is unreadable.
local function parse(state)
  local number, failures, lost, releases, due, owner = string.match(state or '', '^(%d+):(%d+):(%d+):(%d+):(%d+):(.*)$')
  if not number or #number > 16 or #failures > 9 or #lost > 9 or #releases > 9 or #due > 15 then return nil end
  return {number = number, failures = failures, lost = lost, releases = releases, due = due, owner = owner}
end

-- The state of a message whose own is missing or unreadable.
local function fresh(number)
  return {number = number, failures = 0, lost = 0, releases = 0, due = string.format('%d', now), owner = ''}
end

local function format(s)
  return s.number .. ':' .. s.failures .. ':' .. s.lost .. ':' .. s.releases .. ':' .. s.due .. ':' .. s.owner
end

-- A score as a time in ms. One that was written by hand may be no valid time.
local function timeOf(score) return math.floor(math.max(0, math.min(tonumber(score), 2 ^ 53))) end

-- A parked message waits behind another one of its ordering key. Its score in waiting is its due time and this: no due time is so
-- late, so no claim meets it.
local PARKED = 2 ^ 52

-- The due time of a waiting message, parked or not.
local function dueOf(score)
  local due = timeOf(score)
  return due >= PARKED and due - PARKED or due
end

-- The ordering key of an id '~~key~...', which no other id has. nil or false if there is none.
local function keyOf(id) return string.byte(id, 2) == 126 and string.match(id, '^~~([^~]+)~') end

-- The time of the first entry.
local function first(set)
  local score = redis.call('ZRANGE', set, '0', '0', 'WITHSCORES')[2]
  return score and timeOf(score)
end

-- Whether the consumers are to be woken for a new message with this due time: no waiting message is due by then, or already.
-- To be called before the message waits.
local function isNews(due)
  return due and redis.call('ZCOUNT', KEYS[1] .. 'waiting', '-inf', string.format('%d', math.max(due, now))) == 0
end

-- pcall: a user who may not publish loses the wakeup, not the message.
local function notify(due) redis.pcall('PUBLISH', prefix .. 'wakeup', string.format('%d', due)) end

local function note(id, owner, text)
  local entry = string.format('%d', now) .. ':' .. owner .. ':' .. string.sub(text, 1, 4096)
  spare(redis.pcall('HSETNX', errors, 'F' .. id, entry))
  spare(redis.pcall('HSET', errors, 'L' .. id, entry))
end

-- Messages leave their place, or get another due time: the first parked message of each of their ordering keys waits for its
-- own due time again. One too many does no harm, because a claim parks it again. So this comes before the messages leave:
-- wherever the script stops, a key that nobody holds has no message that is parked before all that wait.
-- Returns the keys, with the ids of each, or nil if none has one; and the due time to notify consumers of, or nil. A full Redis
-- refuses it if it is the first write, unless it is to go on.
local function expose(ids, goesOnWhenFull)
  local keys, leaving
  for _, id in ipairs(ids) do
    local key = keyOf(id)
    if key then
      keys, leaving = keys or {}, leaving or {}
      if not keys[key] then keys[key], keys[#keys + 1] = {}, key end
      leaving[id], keys[key][#keys[key] + 1] = true, id
    end
  end
  if not keys then return end
  local entries, earliest = {}, nil
  for _, key in ipairs(keys) do
    local parked, at = KEYS[1] .. 'parked:' .. key, 0
    local id = (spare(redis.pcall('ZRANGE', parked, '0', '0')) or {})[1]
    while id do
      local score = not leaving[id] and redis.call('ZSCORE', waiting, id)
      if leaving[id] then
        at = at + 1
      elseif score and timeOf(score) >= PARKED then
        local due = dueOf(score)
        entries[#entries + 1] = {parked, id, string.format('%d', due)}
        if not earliest or due < earliest then earliest = due end
        break
      else
        redis.call('ZREM', parked, id) -- of a claim or a change that stopped half way
      end
      id = redis.call('ZRANGE', parked, at, at)[1]
    end
  end
  local news = isNews(earliest)
  if goesOnWhenFull then allowWhenFull() end
  for _, entry in ipairs(entries) do
    redis.call('ZADD', waiting, 'XX', entry[3], entry[2])
    redis.call('ZREM', entry[1], entry[2])
  end
  return keys, news and earliest or nil
end

-- Messages that have left, or have another due time, are no longer parked.
local function unpark(keys)
  for _, key in ipairs(keys) do spare(redis.pcall('ZREM', KEYS[1] .. 'parked:' .. key, unpack(keys[key]))) end
end

-- Frees the keys that these messages hold.
local function free(keys)
  unpark(keys)
  local freed, holders = {}, spare(redis.pcall('HMGET', heldKeys, unpack(keys))) or {}
  for i, key in ipairs(keys) do
    for _, id in ipairs(keys[key]) do
      if id == holders[i] then freed[#freed + 1] = key end
    end
  end
  if #freed > 0 then redis.call('HDEL', heldKeys, unpack(freed)) end
end

-- Ends messages: takes them from every place, counts them, and removes body, state and errors. If their bodies cannot be
-- removed, they stay in the place that is given. Returns the due time to notify consumers of, or nil.
local function finish(place, ids, scores, counter)
  local keys, news = expose(ids, true)
  local messages = {}
  for i = 1, #ids do messages[i] = message(ids[i]) end
  local extras = redis.call('EXISTS', errors, dead)
  if place == inflight then spare(redis.pcall('ZREM', waiting, unpack(ids))) end
  if extras > 0 and place ~= dead then spare(redis.pcall('ZREM', dead, unpack(ids))) end
  redis.call('ZREM', place, unpack(ids))
  local isCounted, failure = pcall(count, counter, #ids)
  if isCounted then failure = errorOf(redis.pcall('UNLINK', unpack(messages))) end
  if failure then
    local entries = {}
    for i, id in ipairs(ids) do entries[2 * i - 1], entries[2 * i] = scores[i], id end
    redis.pcall('ZADD', place, unpack(entries))
    if isCounted then pcall(count, counter, -#ids) end
    error(failure, 0)
  end
  redis.call('HDEL', states, unpack(ids))
  if extras > 0 then
    local notes = {}
    for i, id in ipairs(ids) do notes[2 * i - 1], notes[2 * i] = 'F' .. id, 'L' .. id end
    spare(redis.pcall('HDEL', errors, unpack(notes)))
  end
  if keys then free(keys) end -- last: until then no other message of the key is handed out
  return news
end

-- The fence. Of the (id, number, ...) groups from the given argument on: which are in flight under this very number?
-- Returns ids, states as text and ends of the leases by position where held, and codes: '1' held, '0' stale, '2' gone. A repetition
-- in one batch is stale.
local function fenced(from, size)
  local ids, codes, seen, n = {}, {}, {}, 0
  for i = from, #ARGV, size do
    n = n + 1
    ids[n] = ARGV[i]
  end
  if n == 0 then return ids, {}, codes, {} end
  local holding, leases = redis.call('HMGET', states, unpack(ids)), redis.call('ZMSCORE', inflight, unpack(ids))
  for i = 1, n do
    local id, state, number = ids[i], holding[i], ARGV[from + (i - 1) * size + 1] .. ':'
    if state and leases[i] and string.sub(state, 1, #number) == number and not seen[id] then
      seen[id], codes[i] = true, '1'
    else
      holding[i], codes[i] = false, state and '0' or '2'
    end
  end
  return ids, holding, codes, leases
end

-- Returns the codes, whether anything was written, and the due time to notify consumers of, or nil.
local function acknowledge(from)
  local ids, holding, codes, leases = fenced(from, 2)
  local n = 0 -- ids and leases become those that are held
  for i = 1, #ids do
    if holding[i] then
      n = n + 1
      ids[n], leases[n] = ids[i], leases[i]
    end
  end
  if n == 0 then return codes, false end
  for i = #ids, n + 1, -1 do ids[i] = nil end
  return codes, true, finish(inflight, ids, leases, 'acknowledged')
end

-- Whether the ids are also in waiting or dead: their scores there, by position.
local function elsewhere(ids)
  if #ids == 0 then return {}, {} end
  return redis.call('ZMSCORE', waiting, unpack(ids)), redis.call('ZMSCORE', dead, unpack(ids))
end

-- Whether a message in flight has been redriven since its death: a redrive that stopped half way has left the death behind.
local function isRedriven(s, diedAt) return diedAt and tonumber(s.due) > tonumber(diedAt) end

-- Where an operator finds a message, and its due time if it waits: 'inflight', 'waiting', 'dead', 'lost' if it has a body
-- and no place, or nil.
local function whereabouts(id)
  local shard = KEYS[1]
  if redis.call('ZSCORE', shard .. 'inflight', id) then return 'inflight' end
  local due = redis.call('ZSCORE', shard .. 'waiting', id)
  if due then return 'waiting', due end
  if redis.call('ZSCORE', shard .. 'dead', id) then return 'dead' end
  return redis.call('EXISTS', message(id)) == 1 and 'lost' or nil
end

-- Whether these are the first 8 bytes of the frame of an id: all of a shorter frame. '' means any frame.
local function isIncarnation(id, incarnation)
  return incarnation == '' or spare(redis.pcall('GETRANGE', message(id), 0, 7)) == incarnation
end

-- Whether cancel and reschedule may change a message: 1 yes, 0 gone, 2 in flight, 3 dead, 4 another life of this id.
-- Also returns its due time if it waits.
local function changeable(id, incarnation)
  local place, due = whereabouts(id)
  local code = ({inflight = 2, dead = 3, waiting = 1, lost = 1})[place] or 0
  if code ~= 0 and not isIncarnation(id, incarnation) then code = 4 end
  return code, due
end

-- Whether a comes before b byte by byte, as ids of equal time do in Redis. '<' of Lua follows the locale.
local function isBefore(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- Of the members from index low to high - 1, which are in the order of their ids: the index of the first one behind this id, or
-- of this id itself if it is not included. A binary search.
local function indexBehind(set, low, high, id, included)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local member = redis.call('ZRANGE', set, middle, middle)[1]
    if isBefore(member, id) or included and member == id then low = middle + 1 else high = middle end
  end
  return low
end

-- A page of a place in the order of whole ms, then of ids, behind a position or from the beginning. announce.lua moves a dead letter
-- behind the others of its ms, and this order does not depend on that. So the members of one ms are two runs, each in the order
-- of ids, which are merged. Returns how many come before, and ids and scores in turn.
local function pageBehind(set, score, id, most, newest)
  local order, runs, seen, added = {}, {}, {}, 0
  local function add(from, to)
    local part = from <= to and redis.call('ZRANGE', set, from, to, 'WITHSCORES') or {}
    for i = 1, #part, 2 do
      local at = newest and #part - i or i
      local ms = math.floor(tonumber(part[at + 1]))
      if not runs[ms] then runs[ms], order[#order + 1] = {{}, {}}, ms end
      local run = runs[ms][tonumber(part[at + 1]) == ms and 1 or 2]
      if not seen[part[at]] then seen[part[at]], run[#run + 1], added = true, {part[at], part[at + 1]}, added + 1 end
    end
  end
  -- Adds the members of one ms, behind an id if one is given. Returns how many come before these, and where the next ms begins.
  local function addOne(ms, after)
    local low = redis.call('ZCOUNT', set, '-inf', string.format('(%.17g', ms))
    local middle = redis.call('ZCOUNT', set, '-inf', string.format('%.17g', ms))
    local high = ms + 1 > ms and redis.call('ZCOUNT', set, '-inf', string.format('(%.17g', ms + 1)) or middle
    local before = low
    for _, run in ipairs({{low, middle}, {middle, high}}) do
      local at = newest and run[2] or run[1]
      if after then at = indexBehind(set, run[1], run[2], after, not newest) end
      before = before + at - run[1]
      if newest then add(math.max(run[1], at - most), at - 1) else add(at, math.min(run[2], at + most) - 1) end
    end
    return before, newest and low - 1 or high
  end
  local skip, from = 0, newest and redis.call('ZCARD', set) - 1 or 0
  if score ~= '' then
    check(tonumber(score), 'not a score: ' .. score)
    local total = from + 1
    skip, from = addOne(math.floor(tonumber(score)), id)
    if newest then skip = total - skip end
  end
  if added < most then
    local known = #order
    if newest then add(math.max(0, from - most + 1), from) else add(from, from + most - 1) end
    if #order > known then addOne(order[#order]) end -- the last ms may be incomplete
  end
  local page = {}
  for _, ms in ipairs(order) do
    local plain, marked, i, j = runs[ms][1], runs[ms][2], 1, 1
    while #page < 2 * most and (plain[i] or marked[j]) do
      local entry
      if not marked[j] or plain[i] and isBefore(plain[i][1], marked[j][1]) ~= newest then
        entry, i = plain[i], i + 1
      else
        entry, j = marked[j], j + 1
      end
      page[#page + 1], page[#page + 2] = entry[1], entry[2]
    end
  end
  return skip, page
end

-- The parts of an error entry that determine its group: the first line, the line of the deepest cause, the first frames. Entries
-- of up to 800 bytes stay whole. Plain finds, because a pattern takes a step for each character. See ErrorGroup.
local function brief(entry)
  if #entry <= 800 then return entry end
  local begin = string.match(entry, '^%d+:[^:]*:()')
  if not begin then return string.sub(entry, 1, 800) end
  local frames = string.find(entry, '\n  at ', 1, true) or #entry + 1
  local head = string.sub(entry, begin, frames - 1)
  local function lineFrom(first, most)
    return string.sub(head, first, math.min(first + most, string.find(head, '\n', first, true) or #head + 1) - 1)
  end
  local cause, found = nil, string.find(head, '\ncaused by ', 1, true)
  while found do cause, found = found + 1, string.find(head, '\ncaused by ', found + 1, true) end
  local line = lineFrom(1, cause and 160 or 400)
  if cause then line = line .. '\n' .. lineFrom(cause, 300) end
  return string.sub(entry, 1, begin - 1) .. line .. string.sub(entry, frames, frames + 479)
end

-- A job is kept for a day after its change, in the list of all jobs, and in that of the running ones if it runs.
local function keepJob(id, runs)
  local jobs, running = KEYS[1] .. 'jobs', KEYS[1] .. 'running'
  redis.call('ZADD', jobs, string.format('%d', now), id)
  if runs then redis.call('ZADD', running, 'NX', string.format('%d', now), id) else redis.call('ZREM', running, id) end
  for _, key in ipairs({jobs, running, KEYS[1] .. 'job:' .. id}) do redis.call('PEXPIRE', key, '86400000') end
end
