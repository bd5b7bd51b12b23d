-- Keeps the wish for a listener of a node, until the node has gone. The node reads it with its next beat, and obeys each
-- wish once.
--
-- KEYS   prefix, settings
--        of the registry of nodes: "<key prefix>{nodes}:"
-- ARGV   node, listener, 'pause' or 'resume', by whom
-- return 1 kept, 0 there is no such node
checkCount(4)
local node, listener, wish, by = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
check(wish == 'pause' or wish == 'resume', 'neither pause nor resume')
check(#listener <= 1024 and #by <= 1024, 'name too long')
local till = redis.call('ZSCORE', prefix .. 'until', node)
if not till or tonumber(till) <= now then return 0 end
local wishes = prefix .. 'wishes:' .. node
local last = string.match(redis.call('HGET', wishes, listener) or '', '^%a+:(%d+):')
local at = math.max(micros, last and #last <= 16 and last + 1 or 0) -- a later wish has a later time, whatever the clock does
allowWhenFull()
redis.call('HSET', wishes, listener, wish .. ':' .. string.format('%.0f', at) .. ':' .. by)
redis.call('PEXPIRE', wishes, '3600000')
return 1
