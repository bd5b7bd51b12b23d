-- Takes or renews a lease on work that one node does for all. It has nothing to do with the load leases of entries.
--
-- KEYS   lease
-- ARGV   owner, duration ms, all or part: how much of the work the caller can do
-- return 0 the caller holds it, else the ms that are left to another owner
-- fields owner work
local owner, left = redis.call('HGET', KEYS[1], 'owner'), redis.call('PTTL', KEYS[1])
-- A node that can do all of the work takes the lease from one that can do a part.
local yields = ARGV[3] == 'all' and redis.call('HGET', KEYS[1], 'work') == 'part'
-- A lease without a TTL counts as expired, and one that is longer than the caller's: the clock was set back since. An owner that
-- lives renews its own.
if owner and owner ~= ARGV[1] and left > 0 and left <= tonumber(ARGV[2]) and not yields then return left end
-- A field that is never there. After a deletion a server that is full takes anything from a script.
redis.call('HDEL', KEYS[1], '::')
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'work', ARGV[3])
local reply = redis.pcall('PEXPIRE', KEYS[1], ARGV[2])
if type(reply) == 'table' then
  -- Redis does not undo a script that fails: no key may stay behind without a TTL.
  redis.call('HDEL', KEYS[1], 'owner', 'work')
  raise('PEXPIRE', reply)
end
return 0
