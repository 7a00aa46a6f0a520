-- Releases one hold; the last one frees the lock and wakes a waiter. Harmless when sent again.
-- KEYS[1] lock   KEYS[2] unlock channel   KEYS[3] release receipt
-- ARGV[1] unlock message   ARGV[2] lease, ms   ARGV[3] holder   ARGV[4] lease of the receipt, ms
-- Replies 1 when the lock is free now, 0 when holds remain, nil when the caller does not hold it.
-- Same rule: model/src/locks/fenced.rs, execute.   Compare: RedissonLock.unlockInnerAsync (4.7).
local lock, channel, receipt = KEYS[1], KEYS[2], KEYS[3]
local message, lease_ms, holder, receipt_lease_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

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
redis.call('publish', channel, message)
redis.call('set', receipt, 1, 'px', receipt_lease_ms)
return 1
