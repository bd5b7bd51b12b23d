-- raise-epoch: makes every value of a prefix a miss that was stored, or whose loader was elected, before.
-- The clock is a floor: epochs that were lost with the key do not begin again.
--
-- KEYS[1]  the hash with the epochs of all prefixes
-- ARGV[1]  prefix
--
-- returns the new epoch, in seconds of the clock or above
local time = redis.call('TIME')
local now = tonumber(time[1])
local epoch = math.max(now, tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) + 1)
redis.call('HSET', KEYS[1], ARGV[1], epoch)
redis.call('PEXPIRE', KEYS[1], 31536000000)
return epoch
