-- Releases one hold; the last one frees the lock, and tells nobody. Harmless when sent again.
-- KEYS[1] lock   KEYS[2] release receipt
-- ARGV[1] lease, ms   ARGV[2] holder   ARGV[3] lease of the receipt, ms
-- Replies 1 when the lock is free now, 0 when holds remain, nil when the caller does not hold it.
-- Same rule: model/src/locks/spin.rs, release.   Compare: RedissonSpinLock.unlockInnerAsync (4.7).
local lock, receipt = KEYS[1], KEYS[2]
local lease_ms, holder, receipt_lease_ms = ARGV[1], ARGV[2], ARGV[3]

-- This request was executed before and its reply was lost: the receipt contains the reply.
local replied = redis.call('get', receipt)
if replied then
  return tonumber(replied)
end

local is_mine = redis.call('hexists', lock, holder) == 1
if not is_mine then
  return nil
end

local holds = redis.call('hincrby', lock, holder, -1)
if holds > 0 then
  redis.call('pexpire', lock, lease_ms)
  redis.call('set', receipt, 0, 'px', receipt_lease_ms)
  return 0
end

redis.call('del', lock)
redis.call('set', receipt, 1, 'px', receipt_lease_ms)
return 1
