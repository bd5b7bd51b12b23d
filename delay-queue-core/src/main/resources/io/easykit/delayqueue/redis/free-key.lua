-- Frees an ordering key that a dead message has stopped: the next message of the key is handed out. The dead one stays.
--
-- KEYS   prefix, settings
-- ARGV   key, id of the dead message
-- return 1 freed, 0 this message does not hold the key, or is not dead
checkCount(2)
local key, id = ARGV[1], ARGV[2]
if redis.call('HGET', heldKeys, key) ~= id or whereabouts(id) ~= 'dead' then return 0 end
allowWhenFull()
local _, exposed = expose({id})
redis.call('HDEL', heldKeys, key)
if exposed then notify(exposed) end
return 1
