-- Keeps the report of a node until it is forgotten, forgets nodes that are silent, and returns the pause requests for this node.
-- Of a node it writes first when it is forgotten, and removes that last: so none stays for ever where the script stops.
--
-- KEYS   prefix, settings
--        of the registry of nodes: "<key prefix>{nodes}:"
-- ARGV   node, report, ms until it is forgotten or 0: it leaves
-- return now, 1 if the node is the one that was there first or 0, (listener, request)*
checkCount(3)
local node, report, keep = ARGV[1], ARGV[2], duration(ARGV[3], 0, 10 ^ 8, 'keep')
check(#node > 0 and #node <= 512, 'not the name of a node')
check(#report <= 1048576, 'report too long')
local since, till, reports, requests = prefix .. 'since', prefix .. 'until', prefix .. 'reports', prefix .. 'pause-requests:'
local gone = redis.call('ZRANGEBYSCORE', till, '-inf', string.format('%d', now), 'LIMIT', '0', '100')
if keep == 0 then gone[#gone + 1] = node end
for _, silent in ipairs(gone) do
  redis.call('ZREM', since, silent)
  redis.call('HDEL', reports, silent)
  if keep == 0 and silent == node then
    redis.call('UNLINK', requests .. silent)
  else
    redis.call('PEXPIRE', requests .. silent, '3600000') -- a node that was silent may still run, and come back for them
  end
  redis.call('ZREM', till, silent)
end
if keep == 0 then return {now, 0} end
allowWhenFull()
-- Of before a step back of the clock: a dead node would stay for as long, perhaps as the first one.
for _, ahead in ipairs(redis.call('ZRANGEBYSCORE', till, string.format('(%d', now + math.max(10 * keep, 1800000)), '+inf', 'LIMIT', '0', '100')) do
  redis.call('ZADD', till, string.format('%d', now + keep), ahead)
end
redis.call('ZADD', till, string.format('%d', now + keep), node)
redis.call('ZADD', since, 'NX', string.format('%d', now), node)
redis.call('HSET', reports, node, string.format('%d', now) .. ':' .. report)
for _, key in ipairs({till, since, reports}) do redis.call('PEXPIRE', key, '3600000') end
local oldest = redis.call('ZRANGE', since, '0', '0')[1]
if oldest ~= node and not redis.call('ZSCORE', till, oldest) then redis.call('ZREM', since, oldest) end
local reply = {now, oldest == node and 1 or 0}
for _, part in ipairs(redis.call('HGETALL', requests .. node)) do reply[#reply + 1] = part end
return reply
