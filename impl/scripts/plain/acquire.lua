-- Takes the lock if it is free. A holder that asks again is refused too.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] holder
-- Replies OK when taken, nil when the lock is held.
-- Same rule: model/src/locks/plain.rs, acquire.   Compare: the Redis documentation, SET with NX and PX.
local lock, lease_ms, holder = KEYS[1], ARGV[1], ARGV[2]

return redis.call('set', lock, holder, 'nx', 'px', lease_ms)
