-- Makes every value of some prefixes a miss that was stored, or whose loader got its load lease, before.
-- All prefixes at once: a reader of one of the new epochs reads all of them.
-- The clock and the caller are floors: epochs that were lost with the key do not begin again.
--
-- KEYS   the hash with the epochs of all prefixes
-- ARGV   (prefix, highest epoch of it that the caller knows)*
-- return epoch*    in the order of the prefixes, in seconds of the clock or above
-- fields one for each prefix: its epoch
local seconds = tonumber(time[1])
local fields, prefixes, epochs = {}, {}, {}
while ARGV[1] do
  local stored = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0) or 0
  -- An epoch has four bytes of a value. The highest one is no epoch, and the one below is never exceeded.
  if not (stored >= 0 and stored < 4294967295) then stored = 0 end
  local epoch = math.min(4294967294, math.max(seconds, math.floor(stored) + 1, ARGV[2] + 1))
  fields[#fields + 1], fields[#fields + 2] = ARGV[1], epoch
  prefixes[#prefixes + 1], epochs[#epochs + 1] = ARGV[1], epoch
  table.remove(ARGV, 1)
  table.remove(ARGV, 1)
end
local ttl = redis.call('PTTL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(fields))
local reply = redis.pcall('PEXPIRE', KEYS[1], 31536000000)
if type(reply) == 'table' then
  -- Redis does not undo a script that fails: no key may stay behind without a TTL.
  if ttl == -2 then redis.call('HDEL', KEYS[1], unpack(prefixes)) end
  error(reply.err)
end
return epochs
