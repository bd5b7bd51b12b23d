-- invalidate: ends an update (committed, rolled back or unknown), or invalidates without one. Idempotent.
-- The old value may be read until staleUntil, which only ever sinks: updates in a row never prolong it.
--
-- KEYS[1]  the entry
-- ARGV[1]  token of the update, empty without one
-- ARGV[2]  stale window in ms, 0 to drop the value now
--
-- returns 1 an old value stays for the window, 0 no value is left
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = tonumber(ARGV[2])
redis.call('HDEL', KEYS[1], 'f', 'i:' .. ARGV[1])
local entry = redis.call('HMGET', KEYS[1], 'v', 's', 'i')
local value, stale = entry[1], tonumber(entry[2] or now + window) or 0

local intents = 0
if entry[3] then
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, 2) == 'i:' then
      local ends = tonumber(fields[i + 1]) or 0
      if ends > now then intents = math.max(intents, ends) else redis.call('HDEL', KEYS[1], fields[i]) end
    end
  end
  if intents > 0 then redis.call('HSET', KEYS[1], 'i', intents) else redis.call('HDEL', KEYS[1], 'i') end
end

if not value or window <= 0 then
  if intents > 0 then redis.call('HDEL', KEYS[1], 'v', 's') else redis.call('DEL', KEYS[1]) end
  return 0
end
stale = math.min(now + window, stale)
redis.call('HSET', KEYS[1], 's', stale)
local life, wanted = redis.call('PTTL', KEYS[1]), math.max(stale, intents, now + 1) - now
if life < 0 or life > wanted then redis.call('PEXPIRE', KEYS[1], wanted) end
return 1
