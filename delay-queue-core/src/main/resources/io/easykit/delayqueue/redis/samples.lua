-- Returns the samples of the shard.
--
-- KEYS   prefix, settings
-- ARGV   number of hours (1 to 25)
-- return now, first minute of the present run or nil, its last minute or nil, its values or nil, (hour:runs or nil)*
checkCount(1)
local hours = toInteger(ARGV[1], 1, 25, 'hours')
local hour, fields = math.floor(now / 3600000), {'from', 'to', 'values'}
for i = 0, hours - 1 do fields[#fields + 1] = string.format('%d', (hour - i) % 25) end
return {now, unpack(redis.call('HMGET', prefix .. 'samples', unpack(fields)))}
