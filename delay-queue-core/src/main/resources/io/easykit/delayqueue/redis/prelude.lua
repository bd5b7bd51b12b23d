-- In front of every script when it is loaded: the names of the keys, the time, and the moves that scripts share. A script
-- gets the blocks that it uses. Blank lines separate blocks, and stand nowhere else.
--
-- KEYS[1]  prefix of the shard, "<key prefix>{topic:shard}:". No key has this name: see docs/delay-queue.md, "In a cluster"
-- KEYS[2]  settings of the shard
--
-- Numbers go to commands as text where many messages pass: Redis takes long to convert a number of Lua, and a score.
--
-- Redis undoes nothing that a failing script has written, and every redis.call can fail: a permission is missing, a key has
-- another type. Three rules keep each message in at least one place:
--   1. Check arguments and read before the first write.
--   2. Write the new place before you remove the old one. A message in two places counts as in flight. What settles it, takes
--      it from every place.
--   3. Where a message ends or begins, take back what was done if the rest fails: see entirely.
-- What is unreadable counts as absent. repair.lua finishes what stopped half way.
local prefix, settings = KEYS[1], KEYS[2]

local waiting = prefix .. 'waiting'

local inflight = prefix .. 'inflight'

local dead = prefix .. 'dead'

local states = prefix .. 'state'

local errors = prefix .. 'errors'

local counters = prefix .. 'counters'

local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local now = math.floor(micros / 1000) -- what due times are compared with: never early
local soonest = math.ceil(micros / 1000) -- what a delay counts from

local function check(holds, complaint)
  if not holds then error('delay-queue: ' .. complaint, 0) end
end

local function whole(text, least, most, name)
  local n = string.find(text or '', '^%d+$') and tonumber(text)
  check(n and n >= least and n <= most, name .. ' out of range: ' .. tostring(text))
  return n
end

-- A duration: what is longer than the longest, is the longest.
local function duration(text, least, most, name) return math.min(whole(text, least, 10 ^ 300, name), most) end

local function checkCount(n) check(#ARGV == n, 'takes ' .. n .. ' arguments, not ' .. #ARGV) end

-- The message arguments from the given one on come in groups of the given size, at most 100 groups.
local function checkGroups(from, size)
  local n = (#ARGV - from + 1) / size
  check(n == math.floor(n) and n <= 100, 'incomplete group of arguments, or more than 100 messages')
end

-- '+ms' counts from now, anything else is ms since the epoch.
local function moment(text)
  local sign, digits = string.match(text, '^(%+?)(%d+)$')
  check(digits and #digits <= 15, 'not a time: ' .. text)
  return sign == '+' and soonest + digits or tonumber(digits)
end

local function message(id) return prefix .. 'm:' .. id end

-- For what no message depends on: a key of another type and a counter that is no number are skipped. repair.lua reports
-- them.
local function spare(...)
  local reply = redis.pcall(...)
  local failure = type(reply) == 'table' and reply.err
  if not failure then return reply end
  local isDamaged = string.find(failure, 'WRONGTYPE', 1, true) or string.find(failure, 'not an integer', 1, true)
    or string.find(failure, 'overflow', 1, true)
  if not isDamaged then error(failure, 0) end
end

local function count(counter, n)
  if n ~= 0 and not spare('HINCRBY', counters, counter, string.format('%d', n)) then
    redis.pcall('HSET', settings, 'miscounted', '1') -- repair.lua balances the ledger
  end
end

-- All or nothing: if the move fails half way, undo takes back what it did.
local function entirely(move, undo)
  local isDone, failure = pcall(move)
  if isDone then return end
  pcall(undo)
  error(failure, 0)
end

-- A full Redis refuses a script at its first growing command, unless it has written before. This write of nothing, which
-- is always allowed, lets a move that must go on when Redis is full run to its end.
local function admit() redis.call('UNLINK', prefix) end

-- All of it text: Lua counts with it all the same, and what is only passed on costs no conversion. nil if it is unreadable.
local function parse(state)
  local number, failures, lost, releases, due, owner = string.match(state or '', '^(%d+):(%d+):(%d+):(%d+):(%d+):(.*)$')
  if not number or #number > 16 or #failures > 9 or #lost > 9 or #releases > 9 or #due > 15 then return nil end
  return {number = number, failures = failures, lost = lost, releases = releases, due = due, owner = owner}
end

-- The state of a message whose own is missing or unreadable.
local function fresh(number)
  return {number = number, failures = 0, lost = 0, releases = 0, due = string.format('%.0f', now), owner = ''}
end

local function format(s)
  return s.number .. ':' .. s.failures .. ':' .. s.lost .. ':' .. s.releases .. ':' .. s.due .. ':' .. s.owner
end

-- A score as a time in ms. Somebody may have written by hand what is none.
local function timeOf(score) return math.floor(math.max(0, math.min(tonumber(score), 2 ^ 53))) end

-- The time of the first entry.
local function first(set)
  local score = redis.call('ZRANGE', set, '0', '0', 'WITHSCORES')[2]
  return score and timeOf(score)
end

-- Whether the consumers are to be woken when this due time comes to those that wait: nothing is due before, and they know of
-- nothing that is due already. To be asked before the message waits.
local function isNews(due)
  return due and redis.call('ZCOUNT', waiting, '-inf', string.format('%.0f', math.max(due, now))) == 0
end

-- pcall: a user who may not publish loses the bell, not the message.
local function ring(due) redis.pcall('PUBLISH', prefix .. 'bell', string.format('%.0f', due)) end

local function note(id, owner, text)
  local entry = string.format('%.0f', now) .. ':' .. owner .. ':' .. string.sub(text, 1, 4096)
  spare('HSETNX', errors, 'F' .. id, entry)
  spare('HSET', errors, 'L' .. id, entry)
end

-- Ends messages: takes them from every place, counts them, and removes body, state and errors. If their bodies cannot be
-- removed, they stay in the place that is given.
local function finish(place, ids, scores, counter)
  local messages, isCounted = {}, false
  for i, id in ipairs(ids) do messages[i] = message(id) end
  local extras = redis.call('EXISTS', errors, dead)
  if place == inflight then spare('ZREM', waiting, unpack(ids)) end
  if extras > 0 and place ~= dead then spare('ZREM', dead, unpack(ids)) end
  redis.call('ZREM', place, unpack(ids))
  entirely(function()
    count(counter, #ids)
    isCounted = true
    redis.call('UNLINK', unpack(messages))
  end, function()
    local entries = {}
    for i, id in ipairs(ids) do entries[2 * i - 1], entries[2 * i] = scores[i], id end
    redis.call('ZADD', place, unpack(entries))
    if isCounted then count(counter, -#ids) end
  end)
  redis.call('HDEL', states, unpack(ids))
  if extras > 0 then
    local notes = {}
    for i, id in ipairs(ids) do notes[2 * i - 1], notes[2 * i] = 'F' .. id, 'L' .. id end
    spare('HDEL', errors, unpack(notes))
  end
end

-- The fence. Of the (id, number, ...) groups from the given argument on: which are in flight under this very number?
-- Returns ids, states as text and ends of the leases by position where held, and codes: 1 held, 0 stale, -1 gone. A repetition
-- in one batch is stale.
local function held(from, size)
  local ids, holding, leases, codes, seen = {}, {}, {}, {}, {}
  for i = from, #ARGV, size do ids[#ids + 1] = ARGV[i] end
  if #ids == 0 then return ids, holding, codes, leases end
  local known = redis.call('HMGET', states, unpack(ids))
  leases = redis.call('ZMSCORE', inflight, unpack(ids))
  for i, id in ipairs(ids) do
    local state, number = known[i], ARGV[from + (i - 1) * size + 1] .. ':'
    if state and leases[i] and string.sub(state, 1, #number) == number and not seen[id] then
      seen[id], holding[i], codes[i] = true, state, 1
    else
      codes[i] = state and 0 or -1
    end
  end
  return ids, holding, codes, leases
end

-- Returns the codes, and whether anything was written.
local function acknowledge(from)
  local ids, holding, codes, leases = held(from, 2)
  local done, scores = {}, {}
  for i, id in ipairs(ids) do
    if holding[i] then done[#done + 1], scores[#scores + 1] = id, leases[i] end
  end
  if #done == 0 then return codes, false end
  finish(inflight, done, scores, 'acknowledged')
  return codes, true
end

-- Where the ids stand besides being in flight: scores in waiting and dead, by position.
local function elsewhere(ids)
  if #ids == 0 then return {}, {} end
  return redis.call('ZMSCORE', waiting, unpack(ids)), redis.call('ZMSCORE', dead, unpack(ids))
end

-- Where an operator finds a message, and its due time if it waits: 'inflight', 'waiting', 'dead', 'lost' if it has a body
-- and no place, or nil.
local function whereabouts(id)
  if redis.call('ZSCORE', inflight, id) then return 'inflight' end
  local due = redis.call('ZSCORE', waiting, id)
  if due then return 'waiting', due end
  if redis.call('ZSCORE', dead, id) then return 'dead' end
  return redis.call('EXISTS', message(id)) == 1 and 'lost' or nil
end

-- Whether cancel and reschedule may change a message: 1 yes, 0 gone, 2 in flight, 3 dead, 4 another life of this id.
-- Also returns its due time if it waits.
local function changeable(id, life)
  local place, due = whereabouts(id)
  local code = ({inflight = 2, dead = 3, waiting = 1, lost = 1})[place] or 0
  if code ~= 0 and life ~= '' and spare('GETRANGE', message(id), 0, #life - 1) ~= life then code = 4 end
  return code, due
end

-- Bytes of bodies that still fit into the reply of list and find, of one body at most a quarter. The length stands for a body
-- that does not fit.
local room = 262144
local function shown(frame)
  if not frame then return frame end
  if #frame > math.min(room, 65536) then return #frame end
  room = room - #frame
  return frame
end

-- One message for list and find.
local function describe(reply, id, place, score)
  local notes = spare('HMGET', errors, 'F' .. id, 'L' .. id) or {false, false}
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = id, place, timeOf(score)
  reply[at + 4], reply[at + 5], reply[at + 6] = spare('HGET', states, id) or false, notes[1], notes[2]
  reply[at + 7] = shown(redis.call('MGET', message(id))[1])
end
