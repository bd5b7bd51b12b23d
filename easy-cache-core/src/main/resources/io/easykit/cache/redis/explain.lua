-- Shows an entry as it is at one instant, for people. Changes nothing.
--
-- KEYS   entry
-- ARGV   none
-- return now, TTL in ms, (field, its first 18 bytes, number)*
--        TTL     -1 there is none, -2 there is no key, -3 the key is of another type
--        number  the length of a value or of the load, else the time for which the other scripts take the field
-- fields v f s i i: x
local fields = redis.pcall('HGETALL', KEYS[1])
if fields.err then
  if string.find(fields.err, 'WRONGTYPE', 1, true) then return {now, -3} end
  return fields
end
local reply = {now, redis.call('PTTL', KEYS[1])}
-- An entry has few fields; a hash with more of them is not one of ours.
for i = 1, math.min(#fields, 400), 2 do
  local name, content = fields[i], fields[i + 1]
  local first = string.sub(name, 1, 1)
  local hasLength = first == 'v' or first == 'f'
  reply[#reply + 1] = name
  reply[#reply + 1] = string.sub(content, 1, 18)
  reply[#reply + 1] = hasLength and #content or toMillis(content)
end
return reply
