-- Frees the lock no matter who holds it, and tells nobody.
-- KEYS[1] lock
-- Replies 1 when there was a lock to free, 0 when there was none.
-- Same rule: model/src/locks/spin.rs, force_release.   Compare: RedissonSpinLock.forceUnlockAsync (4.7).
local lock = KEYS[1]

return redis.call('del', lock)
