-- Releases the caller's own load lease if nothing is stored under it, so that the next reader loads at once.
--
-- KEYS   entry
-- ARGV   load lease    all 14 bytes: a later load lease has another end
-- return 1 released, 0 the load lease was no longer the caller's
-- fields f
if redis.call('HGET', KEYS[1], 'f') ~= ARGV[1] then return 0 end
-- A field that is never there. After a deletion a server that is full takes anything from a script.
redis.call('HDEL', KEYS[1], '::')
redis.call('HSET', KEYS[1], 'f', string.sub(ARGV[1], 1, 8) .. struct.pack('>I6', 0))
return 1
