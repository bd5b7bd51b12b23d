-- Lists the nodes that are there, in the order in which they came.
--
-- KEYS   prefix, settings
--        of the registry of nodes: "<key prefix>{nodes}:"
-- ARGV   how many to skip, how many (1 to 100)
-- return now, number of nodes, (node, report or nil)*    fewer than requested if one has just gone
checkCount(2)
local skip, most = toInteger(ARGV[1], 0, 10 ^ 9, 'skip'), toInteger(ARGV[2], 1, 100, 'count')
local since = prefix .. 'since'
local reply = {now, redis.call('ZCARD', since)}
local nodes = redis.call('ZRANGE', since, skip, skip + most - 1)
if #nodes == 0 then return reply end
local till, reports = redis.call('ZMSCORE', prefix .. 'until', unpack(nodes)), redis.call('HMGET', prefix .. 'reports', unpack(nodes))
for i, node in ipairs(nodes) do
  if till[i] and tonumber(till[i]) > now then
    reply[#reply + 1], reply[#reply + 2] = node, reports[i]
  end
end
return reply
