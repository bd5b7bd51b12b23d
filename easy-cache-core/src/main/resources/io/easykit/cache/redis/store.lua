-- Stores a loaded value, if nothing was invalidated since the loader got its load lease.
-- Valid values of other versions of the type stay beside it. The key expires with the first of them, or some time later.
--
-- KEYS   entry
-- ARGV   load lease, epoch, envelope, TTL ms, field, outlives ms
--        load lease     its first 8 bytes are the fencing token, which successive loaders share
--        epoch          of the prefix, when the loader fetched
--        field          v and the fingerprint of the type
--        outlives       how long the key stays after the first of its values has expired; 0 for not at all
-- return 1 stored, 0 rejected (nothing has changed)
-- fields v f s x
local lease = redis.call('HGET', KEYS[1], 'f')
if not lease or #lease ~= 14 or string.sub(lease, 1, 8) ~= string.sub(ARGV[1], 1, 8) then return 0 end
local ttl = tonumber(ARGV[4])
local expires = now + ttl
local fields, names = {ARGV[5], struct.pack('>I6I4', expires, ARGV[2]) .. ARGV[3]}, redis.call('HKEYS', KEYS[1])
local invalidated = false
for i = 1, #names do invalidated = invalidated or names[i] == 's' end
for i = 1, invalidated and 0 or #names do
  local name = names[i]
  -- At most three others. One that ends soon would take the new value along; one that lives for ten years is garbage.
  if string.sub(name, 1, 1) == 'v' and name ~= ARGV[5] and #fields < 8 then
    local other = redis.call('HGET', KEYS[1], name)
    local otherExpires = #other >= 12 and struct.unpack('>I6', other) or 0
    if otherExpires > now + ttl / 2 and otherExpires < now + 315360000000 then
      fields[#fields + 1], fields[#fields + 2] = name, other
      expires = math.min(expires, otherExpires)
    end
  end
end
local outlives = tonumber(ARGV[6])
-- The mark and the values in one command: without it a plain read takes them all for valid.
if outlives > 0 then fields[#fields + 1], fields[#fields + 2] = 'x', expires + outlives end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], unpack(fields))
-- Redis does not undo a script that fails: a value without a TTL would be served for ever.
local reply = redis.pcall('PEXPIRE', KEYS[1], expires + outlives - now)
if type(reply) == 'table' then
  redis.call('DEL', KEYS[1])
  raise('PEXPIRE', reply)
end
return 1
