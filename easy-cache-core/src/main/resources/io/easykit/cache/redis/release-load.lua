-- release-load: gives up the caller's own load lease after a failed load, so that the next reader loads at once.
--
-- KEYS[1]  the entry
-- ARGV[1]  load lease of the loader, all 14 bytes: a later lease has another end
--
-- returns 1 released, 0 the load lease was no longer the caller's
if redis.call('HGET', KEYS[1], 'f') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'f', string.sub(ARGV[1], 1, 8) .. struct.pack('>I6', 0))
return 1
