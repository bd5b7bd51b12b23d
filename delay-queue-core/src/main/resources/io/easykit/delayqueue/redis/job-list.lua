-- Reads one job, or the running ones and those of the last day: the 100 that changed last, and up to 100 others that run.
--
-- KEYS   prefix, settings
-- ARGV   id or '' for all
-- return {id, fields and values}*   with a field 'taken' if a node holds the lock for it
checkCount(1)
local ids, listed = {ARGV[1]}, {}
if ARGV[1] == '' then
  ids = redis.call('ZRANGE', prefix .. 'jobs', 0, 99, 'REV')
  for _, id in ipairs(ids) do listed[id] = true end
  for _, id in ipairs(redis.call('ZRANGE', prefix .. 'running', 0, 99)) do
    if not listed[id] then ids[#ids + 1] = id end
  end
end
local reply = {}
for _, id in ipairs(ids) do
  local job = spare(redis.pcall('HGETALL', prefix .. 'job:' .. id)) or {}
  if #job > 0 then
    local lock = prefix .. 'lock:' .. (redis.call('HGET', prefix .. 'job:' .. id, 'lock') or '')
    local holder = spare(redis.pcall('GET', lock))
    if holder and string.sub(holder, 1, #id + 1) == id .. ' ' and redis.call('PTTL', lock) ~= -1 then
      job[#job + 1], job[#job + 2] = 'taken', '1'
    end
    table.insert(job, 1, id)
    reply[#reply + 1] = job
  end
end
return reply
