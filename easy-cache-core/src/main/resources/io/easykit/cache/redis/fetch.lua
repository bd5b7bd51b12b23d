-- fetch: decides what one reader may do with an entry and, where nobody loads it, elects that reader to load it.
--
-- KEYS[1]  the entry
-- ARGV[1]  caller: 4 random bytes, fresh for each fetch (a replay by the driver carries the same ones)
-- ARGV[2]  election in ms: how long the caller is the only loader
-- ARGV[3]  keep in ms: how long the fill token outlives the election; longer than the longest load
-- ARGV[4]  1 if the caller takes an old value inside the stale window, else 0
-- ARGV[5]  ahead in ms: the last part of a value's life in which one reader refreshes it
-- ARGV[6]  epoch of the prefix; a value of an older epoch is no value
-- ARGV[7]  field of the values that the caller can read: v and the fingerprint of their type
--
-- returns {now in ms, outcome, value or nil, ticket or nil, ms that the running election still lasts, 1 if the value is old}
--   outcome: SUCCESS, SUCCESS_NEED_QUERY, NEED_QUERY, NEED_QUERY_NO_STORE, NEED_WAIT
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local caller, election, keep = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local takesOld, ahead, epoch = ARGV[4] == '1', tonumber(ARGV[5]), tonumber(ARGV[6])
local entry = redis.call('HMGET', KEYS[1], ARGV[7], 'f', 's', 'i')
-- A timestamp that is not a number counts as expired.
local function moment(text)
  local number = tonumber(text)
  return number and number >= 0 and number < 1e15 and number or 0
end
local value, fill, intents = entry[1], entry[2], entry[4] and moment(entry[4]) or 0
local stale = entry[3] and moment(entry[3])

if value and (#value < 12 or struct.unpack('>I4', value, 7) < epoch) then value = false end
if fill and #fill ~= 14 then fill = false end
local expires = value and struct.unpack('>I6', value) or 0
local elected = fill and string.sub(fill, 1, 4) ~= caller and struct.unpack('>I6', fill, 9) or 0
-- No election lasts longer than a day: this one is garbage.
if elected - now > math.max(election, 86400000) then elected = 0 end

local function elect()
  local token = fill and string.sub(fill, 1, 8) or caller .. struct.pack('>I4', now % 4294967296)
  fill = token .. struct.pack('>I6', now + election)
  local life = redis.call('PTTL', KEYS[1])
  redis.call('HSET', KEYS[1], 'f', fill)
  if life < election + keep then
    -- Redis does not undo a script that fails: no key may stay behind without a TTL.
    local reply = redis.pcall('PEXPIRE', KEYS[1], election + keep)
    if type(reply) == 'table' then
      redis.call('HDEL', KEYS[1], 'f')
      error(reply.err)
    end
  end
  return fill
end

if value and not stale and now < expires then
  if expires - now > ahead or now < elected then return {now, 'SUCCESS', value} end
  return {now, 'SUCCESS_NEED_QUERY', value, elect()}
end
local old = takesOld and value and stale and now < stale and now < expires and value
if now < intents then
  if old then return {now, 'SUCCESS', old, false, 0, 1} end
  return {now, 'NEED_QUERY_NO_STORE'}
end
if now < elected then
  if old then return {now, 'SUCCESS', old, false, 0, 1} end
  return {now, 'NEED_WAIT', false, false, elected - now}
end
if old then return {now, 'SUCCESS_NEED_QUERY', old, elect(), 0, 1} end
return {now, 'NEED_QUERY', false, elect()}
