-- Shows the value that one reader may have. Changes nothing, and gives nobody the load lease.
--
-- KEYS   entry
-- ARGV   1 if stale is allowed, epoch, field
--        stale          the caller accepts a stale value inside the stale window
--        epoch          of the prefix; a value of an older epoch is no value
--        field          of the values that the caller can read: v and the fingerprint of their type
-- return now, value or nil, ms that it may still be returned, 1 if the value is stale    the last values may be missing
-- fields v s
local entry = redis.call('HMGET', KEYS[1], ARGV[3], 's')
local value, staleUntil = entry[1], entry[2] and toMillis(entry[2])
if not value or #value < 12 or struct.unpack('>I4', value, 7) < tonumber(ARGV[2]) then return {now} end
local ends = struct.unpack('>I6', value)
if staleUntil then ends = ARGV[1] == '1' and math.min(ends, staleUntil) or 0 end
if ends <= now then return {now} end
if staleUntil then return {now, value, ends - now, 1} end
return {now, value, ends - now}
