-- Shows the value that one reader may have. Changes nothing, and gives no load lease.
--
-- KEYS   entry
-- ARGV   stale window ms, epoch, field, past ms
--        stale window   as in fetch
--        epoch          of the prefix; a value of an older epoch is no value
--        field          of the values that the caller can read: v and the fingerprint of their type
--        past           for how long after its end the caller accepts an expired value that was never invalidated; 0 for none
-- return now, value or nil, ms that it may still be returned, 1 if the value is stale, 2 if it has expired
--        the last values may be missing
-- fields v s i
local entry = redis.call('HMGET', KEYS[1], ARGV[3], 's', 'i')
local window, value, staleUntil = tonumber(ARGV[1]), entry[1], entry[2] and toMillis(entry[2])
if not value or #value < 12 or struct.unpack('>I4', value, 7) < tonumber(ARGV[2]) then return {now} end
local expires = struct.unpack('>I6', value)
local ends = expires
if staleUntil then
  local isUpdating = entry[3] and now < toMillis(entry[3])
  ends = window > 0 and (isUpdating or staleUntil - now <= window) and math.min(expires, staleUntil) or 0
end
if now < ends then
  if staleUntil then return {now, value, ends - now, 1} end
  return {now, value, ends - now}
end
local keptUntil = expires + tonumber(ARGV[4])
-- An update, however it ended, has invalidated the value.
if staleUntil or entry[3] or now >= keptUntil then return {now} end
return {now, value, keptUntil - now, 2}
