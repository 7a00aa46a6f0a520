-- Takes the lock for one holder, or enters it once more; whoever is refused does not queue.
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines of those in the queue
-- ARGV[1] lease, ms   ARGV[2] holder   ARGV[3] its wall clock, ms   ARGV[4] how long it would queue, ms
-- Replies nil when taken, 1 when refused.
-- Same rule: model/src/locks/fair.rs, acquire.   Compare: RedissonFairLock.tryLockInnerAsync (4.7).
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease_ms, holder, now_ms, wait_ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

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
if is_free and (not first or first == holder) then
  redis.call('lpop', queue)
  redis.call('zrem', deadlines, holder)
  for _, waiter in ipairs(redis.call('zrange', deadlines, 0, -1)) do
    redis.call('zincrby', deadlines, -wait_ms, waiter)
  end
  redis.call('hset', lock, holder, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end

local is_mine = redis.call('hexists', lock, holder) == 1
if is_mine then
  redis.call('hincrby', lock, holder, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end
return 1
