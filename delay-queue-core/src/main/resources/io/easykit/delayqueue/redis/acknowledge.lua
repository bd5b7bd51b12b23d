-- Ends messages whose handlers have returned: in flight to gone.
--
-- KEYS   prefix, settings
-- ARGV   (id, number)*
-- return code*, as one text    1 acknowledged, 0 stale, 2 gone
checkGroups(1, 2)
local codes, _, news = acknowledge(1)
if news then notify(news) end
return table.concat(codes)
