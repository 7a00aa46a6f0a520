-- Releases one hold; the last one frees the lock, and tells nobody. Sent again, it releases another.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] holder
-- Replies 1 when the lock is free now, 0 when holds remain, nil when the caller does not hold it.
-- Same rule: model/src/locks/spin.rs, release.   Compare: RedissonSpinLock.unlockInnerAsync (3.15).
local lock, lease_ms, holder = KEYS[1], ARGV[1], ARGV[2]

local is_mine = redis.call('hexists', lock, holder) == 1
if not is_mine then
  return nil
end

local holds = redis.call('hincrby', lock, holder, -1)
if holds > 0 then
  redis.call('pexpire', lock, lease_ms)
  return 0
end

redis.call('del', lock)
return 1
