-- Keeps for all nodes that a limit of the topic is exceeded, and lets one of them report each change. A node claims the report
-- under a token, reports, and confirms that with its next call. Until then the same token gets the same reply again; after
-- the time of the claim another node gets it.
--
-- KEYS   prefix, settings
-- ARGV   name of the limit, 'raise' or 'resolve', token, 'claim' or 'confirm', ms of the claim, ms until it is forgotten
-- return 1 the caller is to report it, 0 another node does, or it is so already
checkCount(6)
local name, change, token, confirms = ARGV[1], ARGV[2], ARGV[3], ARGV[4] == 'confirm'
check(string.find(name, '^[%a_]+$'), 'not the name of a limit')
check(change == 'raise' or change == 'resolve', 'neither raise nor resolve')
check(string.find(token, '^%w+$') and #token <= 64, 'not a token')
check(confirms or ARGV[4] == 'claim', 'neither claim nor confirm')
local claim, keep = duration(ARGV[5], 1, 10 ^ 8, 'claim'), duration(ARGV[6], 1, 10 ^ 11, 'keep')
local alert = prefix .. 'alert:' .. name
local kept = spare(redis.pcall('GET', alert)) or ''
local before, till, owner = string.match(kept, '^(%a+):(%d+):(%w*)$')
local left = (tonumber(till or '') or 0) - now
allowWhenFull()
if before == change and owner == token and confirms then
  if change == 'resolve' then redis.call('UNLINK', alert) else redis.call('SET', alert, 'raised:0:', 'PX', keep) end
  return 0
end
if before == 'raised' and change == 'raise' then
  redis.call('PEXPIRE', alert, keep)
  return 0
end
local isOfAnother = before == change and owner ~= token and left > 0 and left <= claim
if confirms or isOfAnother or change == 'resolve' and not before then return 0 end
redis.call('SET', alert, change .. ':' .. string.format('%d', now + claim) .. ':' .. token, 'PX', keep)
return 1
