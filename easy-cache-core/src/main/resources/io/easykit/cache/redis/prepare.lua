-- Prepares an update before its commit. Until its invalidation, or the end of the lease, nothing is stored.
--
-- KEYS   entry
-- ARGV   token of the update, lease ms, stale window ms
--        lease          longer than the commit
--        stale window   of the prefix: the old value stays readable inside it. 0: it is dropped now, as is one in a window that ends
--                       later than this from now: that began before the clock was set back
-- return 1
-- fields v f s i i: x
local lease = tonumber(ARGV[2])
local ends, intent, window = now + lease, 'i:' .. ARGV[1], tonumber(ARGV[3])
local values = valueFields()
local entry = redis.call('HMGET', KEYS[1], 's', 'i')
local ttl = redis.call('PTTL', KEYS[1])
redis.call('HSET', KEYS[1], intent, ends, 'i', math.max(ends, toMillis(entry[2])))
if ttl < lease then
  -- Redis does not undo a script that fails: no key may stay behind without a TTL.
  local reply = redis.pcall('PEXPIRE', KEYS[1], lease)
  if type(reply) == 'table' then
    if ttl == -2 then redis.call('HDEL', KEYS[1], intent, 'i') end
    raise('PEXPIRE', reply)
  end
end
local staleUntil = entry[1] and toMillis(entry[1])
local isTooLong = staleUntil and now >= toMillis(entry[2]) and staleUntil - now > window
if window == 0 or isTooLong then
  redis.call('HDEL', KEYS[1], 'f', 's', 'x', unpack(values))
else
  redis.call('HDEL', KEYS[1], 'f')
  if values[1] then redis.call('HSET', KEYS[1], 's', math.min(ends, staleUntil or ends)) end
end
return 1
