-- Keeps for all nodes that a limit of the topic is exceeded, so that one of them tells it.
--
-- KEYS   prefix, settings
-- ARGV   name of the limit, ms until it is forgotten or 0: it is not exceeded any more
-- return 1 changed, 0 it was so already
check(string.find(ARGV[1] or '', '^[%a_]+$'), 'not the name of a limit')
local keep = duration(ARGV[2], 0, 10 ^ 11, 'keep')
local alert = prefix .. 'alert:' .. ARGV[1]
if keep == 0 then return redis.call('UNLINK', alert) end
allowWhenFull()
if redis.call('SET', alert, '', 'PX', keep, 'NX') then return 1 end
redis.call('PEXPIRE', alert, keep)
return 0
