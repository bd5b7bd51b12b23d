-- Ends an update (committed, rolled back or unknown), or invalidates without one. Idempotent.
-- The old value may be read until the end of the stale window, which only ever sinks: updates in a row never prolong it.
--
-- KEYS   entry
-- ARGV   token of the update or '', stale window ms, channel, hint    0 ms: drop the value now
--        stale window   an open one that ends later than this from now began before the clock was set back: the value is dropped
--        channel, hint  published for the near levels of other nodes; both are missing where nothing is published
-- return 1 an old value stays for the window, 0 no value is left
-- fields v f s i i: x
local window, intent = tonumber(ARGV[2]), 'i:' .. ARGV[1]
local values = valueFields()
-- The value before the intents: a script that fails half way leaves nothing readable that was not readable before.
local entry = redis.call('HMGET', KEYS[1], 's', 'i')
local staleUntil = entry[1] and toMillis(entry[1]) or now + window
-- While an update is prepared, the window ends with its lease.
local isTooLong = now >= toMillis(entry[2]) and staleUntil - now > window
local keepsValue = values[1] and window > 0 and not isTooLong
if keepsValue then
  staleUntil = math.min(now + window, staleUntil)
  -- A field that is never there. After a deletion a server that is full takes anything from a script.
  redis.call('HDEL', KEYS[1], '::')
  redis.call('HSET', KEYS[1], 's', staleUntil)
  redis.call('HDEL', KEYS[1], 'f', 'x', intent)
else
  redis.call('HDEL', KEYS[1], 'f', 's', 'x', intent, unpack(values))
end

-- A hint is no part of the invalidation: a user that may not publish invalidates as ever.
if ARGV[3] then redis.pcall('PUBLISH', ARGV[3], ARGV[4]) end

local updatesUntil = 0
if entry[2] then
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 2) == 'i:' then
      local ends = toMillis(fields[i + 1])
      if ends > now then updatesUntil = math.max(updatesUntil, ends) else redis.call('HDEL', KEYS[1], fields[i]) end
    end
  end
  if updatesUntil > 0 then redis.call('HSET', KEYS[1], 'i', updatesUntil) else redis.call('HDEL', KEYS[1], 'i') end
end

if not keepsValue then
  if updatesUntil == 0 then redis.call('DEL', KEYS[1]) end
  return 0
end
local ttl, wanted = redis.call('PTTL', KEYS[1]), math.max(staleUntil, updatesUntil, now + 1) - now
if ttl < 0 or ttl > wanted then redis.call('PEXPIRE', KEYS[1], wanted) end
return 1
