-- Takes the lock on one of several masters, if no key is there: a round finds a key of an earlier one of its own client in its way too.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] value, of this round alone
-- Replies OK when granted, nil when a key is there.
-- Same rule: model/src/locks/red.rs, acquire.   Compare: the Redis documentation, The Redlock Algorithm, step 2.
local lock, lease_ms, value = KEYS[1], ARGV[1], ARGV[2]

return redis.call('set', lock, value, 'nx', 'px', lease_ms)
