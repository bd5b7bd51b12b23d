-- Reads actions of operators, the latest first.
--
-- KEYS   prefix, settings
-- ARGV   how many to skip, how many (1 to 100)
-- return entry*
checkCount(2)
local actions, skip, most = prefix .. 'actions', toInteger(ARGV[1], 0, 10 ^ 9, 'skip'), toInteger(ARGV[2], 1, 100, 'count')
local latest = tonumber(redis.call('HGET', actions, 'last') or 0) or 0
local numbers = {}
for number = latest - skip, math.max(latest - skip - most + 1, 1), -1 do numbers[#numbers + 1] = string.format('%d', number) end
local entries = {}
if #numbers == 0 then return entries end
for _, entry in ipairs(redis.call('HMGET', actions, unpack(numbers))) do
  if entry then entries[#entries + 1] = entry end
end
return entries
