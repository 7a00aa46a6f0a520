-- Stores its own value and the whole lease in the lock, whoever holds it by now: an extension that does not compare.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] value of the acquire
-- Replies 1 when there was a lock, 0 when there was none.
-- Same rule: model/src/locks/plain.rs, overwritten.   Compare: docs/facts/libraries.md, ShedLock without safeUpdate.
local lock, lease_ms, value = KEYS[1], ARGV[1], ARGV[2]

return redis.call('set', lock, value, 'xx', 'px', lease_ms) and 1 or 0
