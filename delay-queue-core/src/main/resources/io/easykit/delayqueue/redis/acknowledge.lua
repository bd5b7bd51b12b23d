-- Ends messages whose handlers have returned: in flight to gone.
--
-- KEYS   prefix, settings
-- ARGV   (id, number)*
-- return code*    1 acknowledged, 0 stale, -1 gone
checkGroups(1, 2)
return (acknowledge(1))
