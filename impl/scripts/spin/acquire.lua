-- Takes the lock for one holder, or enters it once more if that holder has it already.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] holder
-- Replies nil when taken; otherwise the remaining lease of the other holder, ms.
-- Same rule: model/src/locks/spin.rs, acquire.   Compare: RedissonSpinLock.tryLockInnerAsync (4.7).
local lock, lease_ms, holder = KEYS[1], ARGV[1], ARGV[2]

local is_free = redis.call('exists', lock) == 0
local is_mine = redis.call('hexists', lock, holder) == 1
if is_free or is_mine then
  redis.call('hincrby', lock, holder, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end

return redis.call('pttl', lock)
