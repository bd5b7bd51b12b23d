-- prepare: announces an update before it commits. Until its invalidation, or the end of the lease, nobody may store.
--
-- KEYS[1]  the entry
-- ARGV[1]  token of the update
-- ARGV[2]  lease in ms: longer than the commit
-- ARGV[3]  1 if the old value stays readable inside the stale window, 0 to drop it now
--
-- returns 1
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[2])
local ends, intent = now + lease, 'i:' .. ARGV[1]
-- A timestamp that is not a number counts as expired.
local function toMillis(text)
  local number = tonumber(text)
  return number and number >= 0 and number < 1e15 and number or 0
end

-- The values, one for each version of their type.
local values, names = {}, redis.call('HKEYS', KEYS[1])
for i = 1, #names do
  if string.sub(names[i], 1, 1) == 'v' then values[#values + 1] = names[i] end
end
local entry = redis.call('HMGET', KEYS[1], 's', 'i')
local ttl = redis.call('PTTL', KEYS[1])
redis.call('HSET', KEYS[1], intent, ends, 'i', math.max(ends, toMillis(entry[2])))
if ttl < lease then
  -- Redis does not undo a script that fails: no key may stay behind without a TTL.
  local reply = redis.pcall('PEXPIRE', KEYS[1], lease)
  if type(reply) == 'table' then
    if ttl == -2 then redis.call('HDEL', KEYS[1], intent, 'i') end
    error(reply.err)
  end
end
if ARGV[3] == '0' then
  redis.call('HDEL', KEYS[1], 'f', 's', unpack(values))
else
  redis.call('HDEL', KEYS[1], 'f')
  if values[1] then redis.call('HSET', KEYS[1], 's', math.min(ends, entry[1] and toMillis(entry[1]) or ends)) end
end
return 1
