-- Lets one node of the fleet take a snapshot of all topics, and the others read it.
--
-- KEYS   prefix, settings
--        of the registry of nodes: "<key prefix>{nodes}:"
-- ARGV   'look', ms for which no other node takes one
--   or   'put', ms for which no other node takes one, snapshot
-- return 1 the caller is to take one, 0 another node does; the last one or nil    look
--   or   nothing                                                                  put
local pause, taker, snapshot = duration(ARGV[2], 1, 10 ^ 7, 'pause'), prefix .. 'taker', prefix .. 'snapshot'
check(ARGV[1] == 'look' or ARGV[1] == 'put', 'neither look nor put')
if ARGV[1] == 'put' then
  checkCount(3)
  allowWhenFull()
  redis.call('SET', taker, '', 'PX', pause)
  redis.call('SET', snapshot, ARGV[3], 'PX', 2 * pause + 30000)
  return {}
end
checkCount(2)
allowWhenFull()
if redis.call('SET', taker, '', 'PX', pause, 'NX') then return {1, false} end
return {0, redis.call('GET', snapshot)}
