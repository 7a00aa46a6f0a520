-- Frees the lock no matter who holds it, and wakes the first in the queue.
-- KEYS[1] lock   KEYS[2] queue   KEYS[3] deadlines   KEYS[4] unlock channel, without its waiter
-- ARGV[1] unlock message   ARGV[2] the caller's wall clock, ms
-- Replies 1 when there was a lock to free, 0 when there was none.
-- Same rule: model/src/locks/fair.rs, force.   Compare: RedissonFairLock.forceUnlockAsync (4.7).
local lock, queue, deadlines, channel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local message, now_ms = ARGV[1], tonumber(ARGV[2])

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

local was_held = redis.call('del', lock) == 1
if not was_held then
  return 0
end

if first then
  redis.call('publish', channel .. ':' .. first, message)
end
return 1
