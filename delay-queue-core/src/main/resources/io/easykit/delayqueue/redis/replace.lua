-- Gives a dead message another frame and another chance: dead to waiting under the same id, due at once, with fresh budgets.
-- A full Redis refuses it, whole.
--
-- KEYS   prefix, settings
-- ARGV   id, died at, first 8 bytes of its frame or '', new frame
-- return 1 it waits again, 2 it was replaced before by this very call, 0 not dead or died again, 4 another incarnation
checkCount(4)
local id, diedAt, incarnation, frame = ARGV[1], toInteger(ARGV[2], 0, 2 ^ 53, 'died at'), ARGV[3], ARGV[4]
check(frame ~= '', 'no frame')
local isDone = isBody(id, frame)
local death = redis.call('ZSCORE', dead, id)
local isMeant = death and timeOf(death) == diedAt and not redis.call('ZSCORE', inflight, id)
if not isMeant then return isDone and 2 or 0 end
if not isDone and not isIncarnation(id, incarnation) then return 4 end
local s = parse(redis.call('HGET', states, id)) or fresh('0')
s.failures, s.lost, s.due = 0, 0, string.format('%d', nowCeil)
local news = isNews(nowCeil)
if #frame >= LARGE then noteLarge() end
redis.call('SET', message(id), frame)
redis.call('ZADD', waiting, s.due, id)
redis.call('HSET', states, id, format(s))
redis.call('ZREM', dead, id)
count('redriven', 1)
if news then notify(nowCeil) end
return 1
