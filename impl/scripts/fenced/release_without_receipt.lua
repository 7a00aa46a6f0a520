-- Releases one hold; the last one frees the lock and wakes a waiter. Sent again, it releases another.
-- KEYS[1] lock   KEYS[2] unlock channel   ARGV[1] unlock message   ARGV[2] lease, ms   ARGV[3] holder
-- Replies 1 when the lock is free now, 0 when holds remain, nil when the caller does not hold it.
-- Same rule: model/src/locks/fenced.rs, execute.   Compare: RedissonLock.unlockInnerAsync (3.15).
local lock, channel = KEYS[1], KEYS[2]
local message, lease_ms, holder = ARGV[1], ARGV[2], ARGV[3]

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
redis.call('publish', channel, message)
return 1
