-- In front of every script when it is loaded: the names of the keys, the time, and the moves that scripts share.
--
-- KEYS[1]  prefix of the shard, "<key prefix>{topic:shard}:". No key has this name: see docs/delay-queue.md, "In a cluster"
-- KEYS[2]  settings of the shard
--
-- A script checks its arguments before its first write, because Redis does not undo what a failing script wrote.
local prefix, settings = KEYS[1], KEYS[2]
local waiting, inflight, dead = prefix .. 'waiting', prefix .. 'inflight', prefix .. 'dead'
local states, errors, counters = prefix .. 'state', prefix .. 'errors', prefix .. 'counters'

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

local function count(counter, n)
  if n > 0 then redis.call('HINCRBY', counters, counter, n) end
end

-- A full Redis refuses a script at its first growing command, unless it has written before. This write of nothing, which
-- is always allowed, lets a move that must go on when Redis is full run to its end.
local function admit() redis.call('UNLINK', prefix) end

-- All of it text: Lua counts with it all the same, and what is only passed on costs no conversion.
local function parse(state)
  local number, failures, lost, releases, due, owner = string.match(state, '^(%d+):(%d+):(%d+):(%d+):(%d+):(.*)$')
  return {number = number, failures = failures, lost = lost, releases = releases, due = due, owner = owner}
end

local function format(s)
  return s.number .. ':' .. s.failures .. ':' .. s.lost .. ':' .. s.releases .. ':' .. s.due .. ':' .. s.owner
end

local function first(set)
  local score = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')[2]
  return score and tonumber(score)
end

-- Wakes the consumers when something is due before the front that they know, unless they know of something due already.
-- pcall: a user who may not publish loses the bell, not the message.
local function ring(front, due)
  if due and (not front or due < front and front > now) then
    redis.pcall('PUBLISH', prefix .. 'bell', string.format('%.0f', due))
  end
end

local function note(id, owner, text)
  local entry = string.format('%.0f', now) .. ':' .. owner .. ':' .. string.sub(text, 1, 4096)
  redis.call('HSETNX', errors, 'F' .. id, entry)
  redis.call('HSET', errors, 'L' .. id, entry)
end

-- Removes everything of these ids but their place.
local function forget(ids)
  local messages, notes = {}, {}
  for i, id in ipairs(ids) do
    messages[i] = message(id)
    notes[2 * i - 1], notes[2 * i] = 'F' .. id, 'L' .. id
  end
  redis.call('UNLINK', unpack(messages))
  redis.call('HDEL', states, unpack(ids))
  if redis.call('EXISTS', errors) == 1 then redis.call('HDEL', errors, unpack(notes)) end
end

-- The fence. Of the (id, number, ...) groups from the given argument on: which are in flight under this very number?
-- Returns ids, states as text by position where held, and codes: 1 held, 0 stale, -1 gone. A repetition in one batch is stale.
local function held(from, size)
  local ids, holding, codes, seen = {}, {}, {}, {}
  for i = from, #ARGV, size do ids[#ids + 1] = ARGV[i] end
  if #ids == 0 then return ids, holding, codes end
  local known, leases = redis.call('HMGET', states, unpack(ids)), redis.call('ZMSCORE', inflight, unpack(ids))
  for i, id in ipairs(ids) do
    local state, number = known[i], ARGV[from + (i - 1) * size + 1] .. ':'
    if state and leases[i] and string.sub(state, 1, #number) == number and not seen[id] then
      seen[id], holding[i], codes[i] = true, state, 1
    else
      codes[i] = state and 0 or -1
    end
  end
  return ids, holding, codes
end

local function acknowledge(from)
  local ids, holding, codes = held(from, 2)
  local done = {}
  for i, id in ipairs(ids) do
    if holding[i] then done[#done + 1] = id end
  end
  if #done > 0 then
    redis.call('ZREM', inflight, unpack(done))
    forget(done)
    count('acknowledged', #done)
  end
  return codes
end

-- One message for list and find.
local function describe(reply, id, place, score)
  local notes = redis.call('HMGET', errors, 'F' .. id, 'L' .. id)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = id, place, score
  reply[at + 4], reply[at + 5], reply[at + 6] = redis.call('HGET', states, id), notes[1], notes[2]
  reply[at + 7] = redis.call('GET', message(id))
end
