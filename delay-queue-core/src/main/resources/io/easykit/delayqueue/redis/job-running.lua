-- Finds the running jobs that a node may take: the lock of each is free, or damaged, which job-take.lua reports. Those that
-- wait for a lock, or whose node holds it, are kept for another day; one that no node can run is forgotten.
--
-- KEYS   prefix, settings
-- ARGV   none
-- return number of running jobs that are not listed, {id}*   the first to run first, at most 100
checkCount(0)
local running, free, others = prefix .. 'running', {}, 0
for _, id in ipairs(redis.call('ZRANGE', running, 0, 999)) do
  local job = prefix .. 'job:' .. id
  local kept = spare(redis.pcall('HMGET', job, 'state', 'lock')) or {}
  local lock = prefix .. 'lock:' .. (kept[2] or '')
  if kept[1] ~= 'running' or not kept[2] then
    redis.call('ZREM', running, id)
  elseif #free < 100 and not (spare(redis.pcall('GET', lock)) and redis.call('PTTL', lock) ~= -1) then
    free[#free + 1] = id
  else
    others = others + 1
    redis.call('PEXPIRE', job, 86400000)
  end
end
if others > 0 then redis.call('PEXPIRE', running, 86400000) end
return {others, free}
