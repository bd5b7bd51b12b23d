-- Decides how one reader may use an entry and, where no other reader loads it, gives that reader the load lease.
--
-- KEYS   entry
-- ARGV   caller, load lease ms, keep ms, stale window ms, refresh-ahead ms, null refresh-ahead ms, epoch, field
--        caller         4 random bytes, fresh for each fetch (a replay by the driver carries the same ones)
--        load lease     how long the caller holds the exclusive right to load
--        keep           how long the fencing token outlives the load lease; longer than the longest load
--        stale window   of the prefix, or 0: the caller accepts no stale value. A window that ends later than this from now began
--                       before the clock was set back, or belongs to callers with a longer one: it counts as over, and ends
--        refresh-ahead  the last part of a value's life in which one reader refreshes it; at most a tenth of a TTL of its own
--        null refresh-ahead  the same for null and an empty Optional
--        epoch          of the prefix; a value of an older epoch is no value
--        field          of the values that the caller can read: v and the fingerprint of their type
-- return now, outcome, value or nil, the caller's load lease or nil, ms that the lease of another lasts, 1 if the value is stale
--        load lease     8 bytes fencing token, 6 bytes end in ms
--        outcome        SUCCESS, SUCCESS_NEED_QUERY, NEED_QUERY, NEED_QUERY_NO_STORE, NEED_WAIT; the last values may be missing
-- fields v f s i
local caller, loadLease, keepToken = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local window, refreshAhead, epoch = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[7])
local entry = redis.call('HMGET', KEYS[1], ARGV[8], 'f', 's', 'i')
local value, lease, updatesUntil = entry[1], entry[2], entry[4] and toMillis(entry[4]) or 0
local staleUntil = entry[3] and toMillis(entry[3])

if value and (#value < 12 or struct.unpack('>I4', value, 7) < epoch) then value = false end
if lease and #lease ~= 14 then lease = false end
local expires = value and struct.unpack('>I6', value) or 0
local leaseEnds = lease and string.sub(lease, 1, 4) ~= caller and struct.unpack('>I6', lease, 9) or 0
-- No load lease lasts longer than a day: this one is garbage.
if leaseEnds - now > math.max(loadLease, 86400000) then leaseEnds = 0 end

local function grantLease()
  local token = lease and string.sub(lease, 1, 8) or caller .. struct.pack('>I4', now % 4294967296)
  lease = token .. struct.pack('>I6', now + loadLease)
  local ttl = redis.call('PTTL', KEYS[1])
  redis.call('HSET', KEYS[1], 'f', lease)
  if ttl < loadLease + keepToken then
    -- Redis does not undo a script that fails: no key may stay behind without a TTL. A former f has prolonged the life of the
    -- entry beyond that of its value, and keeps it from plain reads.
    local reply = redis.pcall('PEXPIRE', KEYS[1], loadLease + keepToken)
    if type(reply) == 'table' then
      if entry[2] then redis.call('HSET', KEYS[1], 'f', entry[2]) else redis.call('HDEL', KEYS[1], 'f') end
      raise('PEXPIRE', reply)
    end
  end
  return lease
end

-- The values in a window that is too long. Otherwise they could be returned in its last part.
local function drop() redis.call('HDEL', KEYS[1], 's', unpack(valueFields())) end

if value and not staleUntil and now < expires then
  local version, kind = string.byte(value, 11, 12)
  if kind == 1 or kind == 2 then
    refreshAhead = tonumber(ARGV[6])
  elseif #value >= 18 and version == 2 then
    refreshAhead = math.min(refreshAhead, struct.unpack('>I6', value, 13) / 10)
  end
  if expires - now > refreshAhead or now < leaseEnds then return {now, 'SUCCESS', value} end
  return {now, 'SUCCESS_NEED_QUERY', value, grantLease()}
end
-- While an update is prepared, the window ends with its lease.
local isTooLong = window > 0 and staleUntil and now >= updatesUntil and staleUntil - now > window
local stale = window > 0 and staleUntil and now < staleUntil and not isTooLong and now < expires and value
if now < updatesUntil then
  if stale then return {now, 'SUCCESS', stale, false, 0, 1} end
  return {now, 'NEED_QUERY_NO_STORE'}
end
if now < leaseEnds then
  if stale then return {now, 'SUCCESS', stale, false, 0, 1} end
  if isTooLong then drop() end
  return {now, 'NEED_WAIT', false, false, leaseEnds - now}
end
if stale then return {now, 'SUCCESS_NEED_QUERY', stale, grantLease(), 0, 1} end
local granted = grantLease()
if isTooLong then drop() end
return {now, 'NEED_QUERY', false, granted}
