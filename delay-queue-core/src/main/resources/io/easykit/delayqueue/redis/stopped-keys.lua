-- Reads ordering keys that are stopped: a dead message holds them. One page of the keys that are held a call.
--
-- KEYS   prefix, settings
-- ARGV   cursor, how many (1 to 1000)    cursor: '0' to begin, then the one that the last call returned
-- return next cursor or '', (key, id of the dead message, died at, parked messages)*
checkCount(2)
check(string.find(ARGV[1], '^%d+$'), 'not a cursor: ' .. ARGV[1])
local page = redis.call('HSCAN', heldKeys, ARGV[1], 'COUNT', toInteger(ARGV[2], 1, 1000, 'count'))
local reply = {page[1] == '0' and '' or page[1]}
for i = 1, #page[2], 2 do
  local key, id = page[2][i], page[2][i + 1]
  local place = whereabouts(id)
  if place == 'dead' then
    local at = #reply
    reply[at + 1], reply[at + 2], reply[at + 3] = key, id, timeOf(redis.call('ZSCORE', dead, id))
    reply[at + 4] = spare(redis.pcall('ZCARD', prefix .. 'parked:' .. key)) or 0
  end
end
return reply
