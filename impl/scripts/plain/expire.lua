-- Sets the TTL of the lock, whoever holds it by now: the second command of an acquire.
-- KEYS[1] lock   ARGV[1] lease, ms
-- Replies 1 when there is a lock, 0 when there is none.
-- Same rule: model/src/locks/plain.rs, given_ttl.   Compare: the Redis documentation, PEXPIRE.
return redis.call('pexpire', KEYS[1], ARGV[1])
