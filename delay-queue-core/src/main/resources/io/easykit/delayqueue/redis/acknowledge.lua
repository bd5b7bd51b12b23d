-- Ends messages whose handlers have returned: in flight to gone.
--
-- KEYS   prefix, settings
-- ARGV   (id, number)*
-- return code*, as one text    1 acknowledged, 0 stale, 2 gone
checkGroups(1, 2)
return table.concat((acknowledge(1)))
