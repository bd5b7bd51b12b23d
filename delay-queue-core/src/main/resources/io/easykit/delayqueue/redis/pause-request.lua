-- Stores the request that a listener of a node pauses or resumes, for an hour or until the node leaves. The node reads it with its
-- next beat, and applies each request once.
--
-- KEYS   prefix, settings
--        of the registry of nodes: "<key prefix>{nodes}:"
-- ARGV   node, listener, 'pause' or 'resume', by whom
-- return 1 stored, 0 there is no such node, and no kept request to replace: a node that is silent may come back for one
checkCount(4)
local node, listener, request, by = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
check(request == 'pause' or request == 'resume', 'neither pause nor resume')
check(#listener <= 1024 and #by <= 1024, 'name too long')
local till = redis.call('ZSCORE', prefix .. 'until', node)
local requests = prefix .. 'pause-requests:' .. node
local kept = redis.call('HGET', requests, listener)
if not kept and (not till or tonumber(till) <= now) then return 0 end
local last = string.match(kept or '', '^%a+:(%d+):')
local at = math.max(micros, last and #last <= 16 and last + 1 or 0) -- a later request has a later time, whatever the clock does
allowWhenFull()
redis.call('HSET', requests, listener, request .. ':' .. string.format('%.0f', at) .. ':' .. by)
redis.call('PEXPIRE', requests, '3600000')
return 1
