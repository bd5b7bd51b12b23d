-- raise-epoch: makes every value of a prefix a miss that was stored, or whose loader was elected, before.
-- The clock and the caller are floors: epochs that were lost with the key do not begin again.
--
-- KEYS[1]  the hash with the epochs of all prefixes
-- ARGV[1]  prefix
-- ARGV[2]  the highest epoch that the caller has heard of
--
-- returns the new epoch, in seconds of the clock or above
local time = redis.call('TIME')
local now = tonumber(time[1])
local told = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) or 0
-- An epoch has four bytes of a value. The highest one is no epoch, and the one below is never exceeded.
if not (told >= 0 and told < 4294967295) then told = 0 end
local epoch = math.min(4294967294, math.max(now, math.floor(told) + 1, ARGV[2] + 1))
local life = redis.call('PTTL', KEYS[1])
redis.call('HSET', KEYS[1], ARGV[1], epoch)
local reply = redis.pcall('PEXPIRE', KEYS[1], 31536000000)
if type(reply) == 'table' then
  -- Redis does not undo a script that fails: no key may stay behind without a TTL.
  if life == -2 then redis.call('HDEL', KEYS[1], ARGV[1]) end
  error(reply.err)
end
return epoch
