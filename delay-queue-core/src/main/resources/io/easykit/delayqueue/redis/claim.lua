-- Acknowledges what is given, then hands out what is due: the one round trip of a busy consumer.
-- The same request number again gets the same hand-out again, so that a lost reply costs nothing.
--
-- KEYS   prefix, settings
-- ARGV   owner, request number, how many (1 to 100), of these beside a lost one, lease ms, (id, number)*
--        the pairs are acknowledged
-- return now, status, next due or -1, next end of a lease or -1, {code*},
--        (id, number, due, failures, lost, releases, frame)*
--        status  1 claimed, 0 the shard is paused, -1 the owner has had the answer to a later request
--        code    1 acknowledged, 0 stale, -1 gone
--        frame   empty where somebody deleted it: the consumer is to fail the message
local owner, request = ARGV[1], whole(ARGV[2], 1, 2 ^ 53, 'request number')
local most, besideLost = whole(ARGV[3], 1, 100, 'count'), whole(ARGV[4], 0, 100, 'count')
local lease = whole(ARGV[5], 1, 10 ^ 11, 'lease')
checkGroups(6, 2)
local leaseEnd = string.format('%.0f', now + lease)
local memory = prefix .. 'claim:' .. owner
local reply = {now, 1, -1, -1, acknowledge(6)}

local function handOut(id, s, frame)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = id, tonumber(s.number), tonumber(s.due)
  reply[at + 4], reply[at + 5], reply[at + 6] = tonumber(s.failures), tonumber(s.lost), tonumber(s.releases)
  reply[at + 7] = frame
end

-- The hand-out of the remembered request, without what has changed hands since.
local function again(last)
  local number, ids = last[2], last[3]
  admit()
  for i, id in ipairs(ids) do
    local state = redis.call('HGET', states, id)
    local s = state and parse(state)
    if s and s.number == string.format('%.0f', number + i - 1) and redis.call('ZSCORE', inflight, id) then
      redis.call('ZADD', inflight, 'XX', 'GT', leaseEnd, id)
      handOut(id, s, redis.call('GET', message(id)) or '')
    end
  end
end

-- What is due, and what was kept of it. A message that has lost a lease may be what kills its consumers, and all they hold
-- loses a lease with them: so beside one there are fewer, or only what comes before it.
local function due()
  local found = redis.call('ZRANGEBYSCORE', waiting, '-inf', now, 'WITHSCORES', 'LIMIT', 0, most)
  local ids, dues, past, n = {}, {}, {}, #found / 2
  for i = 1, n do ids[i], dues[i] = found[2 * i - 1], found[2 * i] end
  local known = n > 0 and redis.call('HMGET', states, unpack(ids)) or {}
  for i, state in ipairs(known) do
    past[i] = state and parse(state) or {failures = '0', lost = '0', releases = '0'}
    if past[i].lost ~= '0' then n = math.min(n, math.max(besideLost, i - 1)) end
  end
  return {unpack(ids, 1, n)}, dues, past
end

local function claim(lastNumber)
  local ids, dues, past = due()
  if #ids == 0 then return end
  local messages, newStates, leases = {}, {}, {}
  for i, id in ipairs(ids) do messages[i] = message(id) end
  local frames = redis.call('MGET', unpack(messages))
  redis.call('ZREM', waiting, unpack(ids)) -- first, because a full Redis allows it
  -- The clock is the floor, so that a fail-over that lost the last number does not give it twice.
  local number = math.max(lastNumber + 1, micros)
  for i, id in ipairs(ids) do
    local s = past[i]
    s.number, s.due, s.owner = string.format('%.0f', number + i - 1), dues[i], owner
    newStates[2 * i - 1], newStates[2 * i] = id, format(s)
    leases[2 * i - 1], leases[2 * i] = leaseEnd, id
    if not frames[i] then redis.call('SET', message(id), '') end
    handOut(id, s, frames[i] or '')
  end
  redis.call('HSET', states, unpack(newStates))
  redis.call('HSET', settings, 'number', string.format('%.0f', number + #ids - 1))
  redis.call('ZADD', inflight, unpack(leases))
  redis.call('SET', memory, cmsgpack.pack({request, number, ids}), 'PX', math.max(lease, 60000))
end

local last = redis.call('GET', memory)
last = last and cmsgpack.unpack(last)
local kept = redis.call('HMGET', settings, 'number', 'paused')
if last and last[1] > request then
  reply[2] = -1
elseif last and last[1] == request then
  again(last)
elseif kept[2] then
  reply[2] = 0
else
  claim(tonumber(kept[1] or '0'))
end
reply[3], reply[4] = not kept[2] and first(waiting) or -1, first(inflight) or -1
return reply
