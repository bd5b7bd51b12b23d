if redis.call('EXISTS', waiting) == 0 then return 0 end

---- Second part
return total()
