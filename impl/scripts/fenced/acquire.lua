-- Takes the lock for one holder, or enters it once more if that holder has it already, and raises the counter of tokens.
-- KEYS[1] lock   KEYS[2] counter of tokens   ARGV[1] lease, ms   ARGV[2] holder
-- Replies nil when taken; otherwise the remaining lease of the other holder, ms.
-- Same rule: model/src/locks/fenced.rs, acquire.   Compare: RedissonFencedLock.tryLockInnerAsync (4.7).
local lock, counter = KEYS[1], KEYS[2]
local lease_ms, holder = ARGV[1], ARGV[2]

local is_free = redis.call('exists', lock) == 0
local is_mine = redis.call('hexists', lock, holder) == 1
if not (is_free or is_mine) then
  return redis.call('pttl', lock)
end

redis.call('incr', counter)
redis.call('hincrby', lock, holder, 1)
redis.call('pexpire', lock, lease_ms)
return nil
