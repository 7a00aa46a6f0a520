-- Takes the lock for one holder, or enters it once more; whoever is refused stands in the queue.
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines of those in the queue
-- ARGV[1] lease, ms   ARGV[2] holder   ARGV[3] how long it queues, ms   ARGV[4] its wall clock, ms
-- Replies nil when taken; otherwise ms: what the one before it in the queue has left, or the lock.
-- Same rule: model/src/locks/fair.rs, acquire.   Compare: RedissonFairLock.tryLockInnerAsync (4.7).
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local lease_ms, holder, wait_ms, now_ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

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

local is_queued = redis.call('zscore', deadlines, holder)
if is_queued then
  return math.max(0, redis.call('pttl', lock))
end

local left_ms = redis.call('pttl', lock)
local last = redis.call('lindex', queue, -1)
local last_deadline = last and redis.call('zscore', deadlines, last)
if last_deadline then
  left_ms = tonumber(last_deadline) - now_ms
end
redis.call('zadd', deadlines, now_ms + left_ms + wait_ms, holder)
redis.call('rpush', queue, holder)
return left_ms
