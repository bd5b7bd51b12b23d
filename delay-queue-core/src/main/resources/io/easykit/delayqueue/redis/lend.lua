-- Takes permits that this shard has saved up, for another shard of its topic: none while a message is due here. They are gone here,
-- whether the caller gets the reply or not. A repetition takes further ones. So none is used twice.
--
-- KEYS   prefix, settings
-- ARGV   limits, how many (1 to 100)
--        limits       step:burst:places, as those of a claim, with a step
-- return now, permits, next permit or -1
--        next permit  when there are further ones; -1 if messages are due here
checkCount(2)
local step, burst, places = string.match(ARGV[1], '^(%d+):(%d+):(%d+)$')
check(places, 'limits are not step:burst:places: ' .. ARGV[1])
step, burst = toInteger(step, 1, 2 ^ 47, 'step'), toInteger(burst, 1, 10 ^ 5, 'burst') * 10 ^ 6
local most, key = toInteger(ARGV[2], 1, 100, 'count'), prefix .. 'flow'
local due = first(waiting)
if due and due <= now then return {now, 0, -1} end
-- As a claim reads and writes it.
local kept, at, isAwaited = string.match(redis.call('MGET', key)[1] or '', '^(%d+):(%d+):([01]):')
kept, at = math.min(tonumber(kept or burst), burst), math.min(tonumber(at or micros), micros)
kept = math.min(burst, kept + math.floor((micros - at) * 10 ^ 6 / step))
local permits = math.min(most, math.floor(kept / 10 ^ 6))
if permits > 0 then
  kept = kept - permits * 10 ^ 6
  allowWhenFull()
  redis.call('SET', key, string.format('%d:%d:%s:', kept, micros, isAwaited or '0') .. ARGV[1], 'PX',
    string.format('%d', 3600000 + math.ceil((burst - kept) * step / 10 ^ 9)))
end
local some = math.max(1, math.min(burst / 10 ^ 6, math.floor(5000 / step)))
return {now, permits, math.ceil((micros + math.max(0, math.ceil((some * 10 ^ 6 - kept) * step / 10 ^ 6))) / 1000)}
