-- Prolongs leases of running handlers; a late, shorter renewal never shortens one.
--
-- KEYS   prefix, settings
-- ARGV   lease ms, (id, number)*
-- return code*, as one text    1 renewed, 0 stale, 2 gone; where it is not 1, the handler has lost its message
local lease = duration(ARGV[1], 1, 10 ^ 11, 'lease')
checkGroups(2, 2)
local ids, holding, codes = fenced(2, 2)
local leases, renewed = {}, {}
for i, id in ipairs(ids) do
  if holding[i] then
    leases[#leases + 1], leases[#leases + 2] = now + lease, id
    renewed[#renewed + 1] = id
  end
end
if #renewed > 0 then
  allowWhenFull()
  redis.call('ZADD', inflight, 'XX', 'GT', unpack(leases))
  -- Where a reap stopped half way, the message stays with its handler.
  spare(redis.pcall('ZREM', waiting, unpack(renewed)))
  spare(redis.pcall('ZREM', dead, unpack(renewed)))
end
return table.concat(codes)
