-- Writes a key that ends by itself, to see whether the server takes writes.
--
-- KEYS   prefix, settings
-- ARGV   none
-- return 1
checkCount(0)
redis.call('SET', prefix .. 'health', '', 'PX', 1000)
return 1
