-- Gives back the permit of one holder.
-- KEYS[1] lock   ARGV[1] holder
-- Replies 1 when given back, 0 when the caller held none.
-- Same rule: model/src/locks/semaphore.rs, release.   Compare: releaseSemaphore (redis-semaphore 5.8.0), the command ZREM.
local lock, holder = KEYS[1], ARGV[1]

return redis.call('zrem', lock, holder)
