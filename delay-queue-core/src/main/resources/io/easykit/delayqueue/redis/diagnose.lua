-- Finds causes that Redis does not report when it refuses a script: commands that the user may not run, keys of another type.
-- Changes nothing: the prefix is the name of no key, and commands that would write have an argument that is wrong.
--
-- KEYS   prefix, settings
-- ARGV   none
-- return {command}*, {name of a key, type that it should have}*
checkCount(0)
local denied, damaged = {}, {}
local probes = {'GET', 'GETRANGE 0 0', 'MGET', 'SET x wrong', 'EXISTS', 'UNLINK', 'PEXPIRE wrong', 'PTTL', 'HGET f', 'HGETALL',
  'HMGET f', 'HSET f v wrong', 'HEXISTS f', 'HINCRBY f wrong', 'HDEL f', 'HSCAN 0', 'INCRBY wrong', 'STRLEN', 'ZADD wrong m',
  'ZCARD', 'ZCOUNT 0 0', 'ZMSCORE m', 'ZRANGE 0 0', 'ZRANGEBYSCORE 0 0', 'ZRANK m', 'ZREM m', 'ZSCORE m'}
for _, probe in ipairs(probes) do
  local words = {}
  for word in string.gmatch(probe, '%S+') do words[#words + 1] = word end
  table.insert(words, 2, prefix)
  local reply = redis.pcall(unpack(words))
  local failure = type(reply) == 'table' and reply.err or ''
  if string.find(failure, 'permissions to run', 1, true) or string.find(failure, "can't run this command", 1, true) then
    denied[#denied + 1] = string.lower(words[1])
  end
end

local function expect(kind, command, argument, names)
  for _, name in ipairs(names) do
    local reply = redis.pcall(command, prefix .. name, argument)
    if type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true) then
      damaged[#damaged + 1], damaged[#damaged + 2] = prefix .. name, kind
    end
  end
end
expect('a hash', 'HEXISTS', '-', {'state', 'settings', 'errors', 'held', 'samples', 'reports', 'actions'})
expect('a sorted set', 'ZSCORE', '-', {'waiting', 'inflight', 'dead', 'topics', 'since', 'until', 'jobs', 'running'})
return {denied, damaged}
