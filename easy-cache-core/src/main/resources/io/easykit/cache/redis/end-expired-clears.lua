-- Ends the clearings whose lease is over, because their nodes did not: raises the epochs of their prefixes.
--
-- KEYS   the hash with the epochs of all prefixes
-- ARGV   (prefix, highest epoch of it that the caller has seen)*    clearings of other prefixes stay
-- return 0 there was none, else how many were ended
-- fields one for each prefix: its epoch
--        ::<token>:<prefix>  a clearing that was prepared: end of its lease in ms
local known = {}
for i = 1, #ARGV, 2 do known[ARGV[i]] = ARGV[i + 1] end
local all, fields, prefixes, expired, raised = redis.call('HGETALL', KEYS[1]), {}, {}, {}, {}
for i = 1, #all, 2 do
  local prefix = string.match(all[i], '^::[^:]*:(.+)$')
  if prefix and known[prefix] and toMillis(all[i + 1]) <= now and #expired < 1000 then
    expired[#expired + 1] = all[i]
    if not raised[prefix] then
      raised[prefix] = true
      fields[#fields + 1], fields[#fields + 2] = prefix, nextEpoch(prefix, known[prefix])
      prefixes[#prefixes + 1] = prefix
    end
  end
end
if #expired == 0 then return 0 end
-- A field that is never there. After a deletion a server that is full takes anything from a script.
redis.call('HDEL', KEYS[1], '::')
writeEpochs(fields, prefixes)
redis.call('HDEL', KEYS[1], unpack(expired))
return #expired
