-- store: puts a loaded value in, if nothing was invalidated since the loader was elected.
--
-- KEYS[1]  the entry
-- ARGV[1]  ticket of the loader; its first 8 bytes are the fill token, which successive loaders share
-- ARGV[2]  epoch of the prefix when the loader fetched
-- ARGV[3]  envelope
-- ARGV[4]  life of the value in ms
--
-- returns 1 stored, 0 rejected (nothing has changed)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fill = redis.call('HGET', KEYS[1], 'f')
if not fill or #fill ~= 14 or string.sub(fill, 1, 8) ~= string.sub(ARGV[1], 1, 8) then return 0 end
local life = tonumber(ARGV[4])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'v', struct.pack('>I6I4', now + life, ARGV[2]) .. ARGV[3])
-- Redis does not undo a script that fails: a value without a TTL would be served for ever.
local reply = redis.pcall('PEXPIRE', KEYS[1], life)
if type(reply) == 'table' then
  redis.call('DEL', KEYS[1])
  error(reply.err)
end
return 1
