-- Takes or renews a lease on work that one node does for all. It has nothing to do with the load leases of entries.
--
-- KEYS   lease
-- ARGV   owner, duration ms
-- return 0 the caller holds it, else the ms that are left to another owner
-- fields owner
local owner, left = redis.call('HGET', KEYS[1], 'owner'), redis.call('PTTL', KEYS[1])
-- A lease without a TTL counts as expired.
if owner and owner ~= ARGV[1] and left > 0 then return left end
-- A field that is never there. After a deletion a server that is full takes anything from a script.
redis.call('HDEL', KEYS[1], '::')
redis.call('HSET', KEYS[1], 'owner', ARGV[1])
local reply = redis.pcall('PEXPIRE', KEYS[1], ARGV[2])
if type(reply) == 'table' then
  -- Redis does not undo a script that fails: no key may stay behind without a TTL.
  redis.call('HDEL', KEYS[1], 'owner')
  raise('PEXPIRE', reply)
end
return 0
