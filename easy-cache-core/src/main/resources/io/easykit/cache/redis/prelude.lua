-- In front of every script when it is loaded: the time, and functions that scripts share. A script gets the blocks that it uses.
-- Blank lines separate blocks, and stand nowhere else.
--
-- KEYS   one key: an entry, or as in the header of the script
-- ARGV   as in the header of the script. (…)* stands for any number of groups
-- return as in the header of the script
-- fields of an entry, which is a hash. In the normal state it has one field, its value:
--        v<fingerprint>  value of one version of its type: 6 bytes end of its life in ms, 4 bytes epoch of its prefix, envelope
--                        (1 byte format, 1 byte kind; in format 2, which is for a TTL of the value's own, 6 bytes TTL in ms)
--        f               load: 8 bytes fencing token, which successive loaders share, 6 bytes end of the load lease or 0
--        s               end of the stale window in ms; the values are stale since an update or an invalidation
--        i:<token>       an update that was prepared: end of its lease in ms
--        i               the latest of these ends
--        x               the key outlives its values: end of its life in ms when they were stored
--        Only an entry whose fields are all values is fresh. Beside x its values may have expired
--
-- Redis does not undo the writes of a script that fails: no key may stay behind without a TTL. Unreadable fields count as
-- absent.
local time = redis.call('TIME')

local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A timestamp that is not a number counts as expired.
local function toMillis(text)
  local number = tonumber(text)
  return number and number >= 0 and number < 1e15 and number or 0
end

-- The fields of the values, one for each version of their type.
local function valueFields()
  local values, names = {}, redis.call('HKEYS', KEYS[1])
  for i = 1, #names do
    if string.sub(names[i], 1, 1) == 'v' then values[#values + 1] = names[i] end
  end
  return values
end

-- The epoch of a prefix after the stored one, in seconds of the clock or above. The clock and the caller are floors: epochs
-- that were lost with the key do not begin again.
local function nextEpoch(prefix, known)
  local stored = tonumber(redis.call('HGET', KEYS[1], prefix) or 0) or 0
  -- An epoch has four bytes of a value. The highest one is no epoch, and the one below is never exceeded.
  if not (stored >= 0 and stored < 4294967295) then stored = 0 end
  local every = tonumber(redis.call('HGET', KEYS[1], '::every') or 0) or 0 -- counts for each prefix
  if not (every >= 0 and every < 4294967295) then every = 0 end
  return math.min(4294967294, math.max(tonumber(time[1]), math.floor(stored) + 1, math.floor(every) + 1, known + 1))
end

-- Fails as a command failed, and names it: Redis before 7.2 does not say which command a script may not call.
local function raise(command, reply)
  error('-' .. reply.err .. ' (in call ' .. command .. ')')
end

-- Calls a command of the key with any number of words. Lua passes at most 8,000 at once.
local function callInParts(command, words)
  for i = 1, #words, 1000 do
    redis.call(command, KEYS[1], unpack(words, i, math.min(#words, i + 999)))
  end
end

-- Writes fields of the hash with the epochs, or none of them. It lives for eleven years, longer than any value: a value of before a
-- clearing would be valid again without its epoch.
local function writeEpochs(fields, names)
  local ttl = redis.call('PTTL', KEYS[1])
  callInParts('HSET', fields)
  local reply = redis.pcall('PEXPIRE', KEYS[1], 346896000000)
  if type(reply) == 'table' then
    -- Redis does not undo a script that fails: no key may stay behind without a TTL.
    if ttl == -2 then callInParts('HDEL', names) end
    raise('PEXPIRE', reply)
  end
end
