-- Releases one hold; the last one frees the lock and wakes the first in the queue. Harmless when sent again.
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines   KEYS[4] unlock channel, without its waiter   KEYS[5] release receipt
-- ARGV[1] unlock message   ARGV[2] lease, ms   ARGV[3] holder   ARGV[4] its wall clock, ms   ARGV[5] lease of the receipt, ms
-- Replies 1 when the lock is free now, also when it was before; 0 when holds remain, nil when another holder has it.
-- Same rule: model/src/locks/fair.rs, release.   Compare: RedissonFairLock.unlockInnerAsync (4.7).
local lock, queue, deadlines, channel, receipt = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local message, lease_ms, holder, now_ms, receipt_lease_ms = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]

-- This request was executed before and its reply was lost: the receipt contains the reply.
local replied = redis.call('get', receipt)
if replied then
  return tonumber(replied)
end

-- A dead waiter is removed by whoever comes after its deadline. One without a deadline stays.
local first = redis.call('lindex', queue, 0)
while first do
  local deadline = redis.call('zscore', deadlines, first)
  if not deadline or tonumber(deadline) > now_ms then
    break
  end
  redis.call('lpop', queue)
  redis.call('zrem', deadlines, first)
  first = redis.call('lindex', queue, 0)
end

local is_free = redis.call('exists', lock) == 0
if not is_free then
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
end

if first then
  redis.call('publish', channel .. ':' .. first, message)
end
redis.call('set', receipt, 1, 'px', receipt_lease_ms)
return 1
