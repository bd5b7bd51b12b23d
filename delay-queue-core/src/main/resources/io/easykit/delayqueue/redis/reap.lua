-- Takes messages from consumers whose lease has ended: in flight to waiting, or to dead at the last expiration allowed.
--
-- KEYS   prefix, settings
-- ARGV   how many, lost leases at which a message dies, delay ms, 'stop' or 'skip', latest end of a lease ms, (id, number)*
--        1 to 100 messages; delay 0: at the old due time; skip frees the ordering keys of messages that die
--        a lease that ends later is not taken, although it is over by the clock, which may have stepped ahead
--        with pairs: these that are in flight, although their leases have not ended, because their holder gives them up
-- return now, next end of a lease or -1, (id, number, owner, lost, code)*    code: 1 waits again, 0 dead
checkGroups(6, 2)
check(ARGV[4] == 'stop' or ARGV[4] == 'skip', 'neither stop nor skip')
local most = toInteger(ARGV[1], 1, 100, 'count')
local maxLeaseExpirations, delay = duration(ARGV[2], 1, 10 ^ 6, 'maxLeaseExpirations'), duration(ARGV[3], 0, 10 ^ 14, 'delay')
local latestEnd = toInteger(ARGV[5], 0, 2 ^ 53, 'latest end')
local reply = {now, -1}
local newStates, entries, deaths, skipped, leftovers, earliest = {}, {}, {}, {}, {}, nil

local function lose(id, s, wasRedriven)
  s.lost = s.lost + 1
  local dies = s.lost >= maxLeaseExpirations
  if dies then
    deaths[#deaths + 1], deaths[#deaths + 2] = now, id
    note(id, s.owner, 'LEASE_LOST')
  else
    if delay > 0 then s.due = string.format('%d', nowCeil + delay) end
    local due = tonumber(s.due)
    entries[#entries + 1], entries[#entries + 2] = due, id
    if not earliest or due < earliest then earliest = due end
    if wasRedriven then leftovers[#leftovers + 1] = id end
  end
  newStates[#newStates + 1], newStates[#newStates + 2] = id, format(s)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = id, tonumber(s.number), s.owner
  reply[at + 4], reply[at + 5] = s.lost, dies and 0 or 1
  return dies
end

local function lost()
  if #ARGV == 5 then return redis.call('ZRANGEBYSCORE', inflight, '-inf', math.min(now, latestEnd), 'LIMIT', 0, most) end
  local ids, given, holding = {}, fenced(6, 2)
  for i, id in ipairs(given) do
    if holding[i] then ids[#ids + 1] = id end
  end
  return ids
end

local ids = lost()
if #ids > 0 then
  local known = redis.call('HMGET', states, unpack(ids))
  local dueAgain, diedAt = elsewhere(ids)
  allowWhenFull()
  for i, id in ipairs(ids) do
    -- Where a script stopped half way after it had put the message elsewhere, only the rest is to be done.
    local s = parse(known[i]) or fresh('0')
    local wasRedriven = isRedriven(s, diedAt[i])
    local isDead = not dueAgain[i] and diedAt[i] and not wasRedriven
    if not dueAgain[i] and not isDead then isDead = lose(id, s, wasRedriven) end
    if isDead and ARGV[4] == 'skip' then skipped[#skipped + 1] = id end
  end
  local keys, exposed = expose(skipped)
  local news = isNews(earliest)
  if #entries > 0 then redis.call('ZADD', waiting, unpack(entries)) end
  if #deaths > 0 then redis.call('ZADD', dead, unpack(deaths)) end
  if #newStates > 0 then redis.call('HSET', states, unpack(newStates)) end
  if #leftovers > 0 then redis.call('ZREM', dead, unpack(leftovers)) end
  if keys then free(keys) end
  redis.call('ZREM', inflight, unpack(ids))
  count('lost', #newStates / 2)
  count('dead', #deaths / 2)
  if exposed then notify(exposed) end
  if news then notify(earliest) end
end
reply[2] = first(inflight) or -1
return reply
