-- Of LuaScriptTests.
local prefix = KEYS[1]

local waiting = prefix .. 'waiting'

local function length(key) return redis.call('ZCARD', key) end

local function total() return length(waiting) end

local function unused() return total() end
