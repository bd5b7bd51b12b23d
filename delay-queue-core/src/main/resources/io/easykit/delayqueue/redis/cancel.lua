-- Ends messages that are still waiting.
--
-- KEYS   prefix, settings
-- ARGV   (id, first bytes of its frame or '')*    the first bytes tell one life of an id from the next
-- return code*    1 cancelled, 0 gone, 2 in flight, 3 dead, 4 another life of this id
checkGroups(1, 2)
local codes, done = {}, {}
for i = 1, #ARGV, 2 do
  local id, life, code = ARGV[i], ARGV[i + 1], 1
  if redis.call('EXISTS', message(id)) == 0 then code = 0
  elseif life ~= '' and redis.call('GETRANGE', message(id), 0, #life - 1) ~= life then code = 4
  elseif redis.call('ZREM', waiting, id) == 1 then
    redis.call('UNLINK', message(id)) -- at once: a repetition in this batch finds it gone
    done[#done + 1] = id
  elseif redis.call('ZSCORE', inflight, id) then code = 2
  else code = 3 end
  codes[#codes + 1] = code
end
if #done > 0 then
  forget(done)
  count('cancelled', #done)
end
return codes
