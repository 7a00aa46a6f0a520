-- Takes the lock if it is free. A holder that asks again is refused too, by whichever value.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] value, of this acquire alone
-- Replies OK when taken, nil when the lock is held.
-- Same rule: model/src/locks/plain.rs, acquire.   Compare: the Redis documentation, SET with NX and PX.
local lock, lease_ms, value = KEYS[1], ARGV[1], ARGV[2]

return redis.call('set', lock, value, 'nx', 'px', lease_ms)
