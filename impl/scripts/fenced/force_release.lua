-- Frees the lock no matter who holds it, and wakes a waiter.
-- KEYS[1] lock   KEYS[2] unlock channel   ARGV[1] unlock message
-- Replies 1 when there was a lock to free, 0 when there was none.
-- Same rule: model/src/locks/fenced.rs, force_release.   Compare: RedissonLock.forceUnlockAsync (4.7).
local lock, channel, message = KEYS[1], KEYS[2], ARGV[1]

local was_held = redis.call('del', lock) == 1
if not was_held then
  return 0
end

redis.call('publish', channel, message)
return 1
