-- Takes one waiter out of the queue: it waits no longer, and those behind it wait less.
-- KEYS[1] queue   KEYS[2] deadlines of those in the queue   ARGV[1] holder   ARGV[2] how long it queued, ms
-- Replies nil, also when it does not stand there.
-- Same rule: model/src/locks/fair.rs, leave_queue.   Compare: RedissonFairLock.acquireFailedAsync (4.7).
local queue, deadlines, holder, wait_ms = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])

local is_behind = false
for _, waiter in ipairs(redis.call('lrange', queue, 0, -1)) do
  if is_behind then
    redis.call('zincrby', deadlines, -wait_ms, waiter)
  end
  is_behind = is_behind or waiter == holder
end
redis.call('zrem', deadlines, holder)
redis.call('lrem', queue, 0, holder)
return nil
