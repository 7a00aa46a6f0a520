-- Sets the TTL of a part, whoever has it by now: the last step of an acquire that names its lease.
-- KEYS[1] part   ARGV[1] lease, ms   ARGV[2] option of PEXPIRE, which is empty
-- Replies 1 when there is a lock, 0 when there is none.
-- Same rule: model/src/locks/multi.rs, set_ttl.   Compare: RedissonMultiLock.tryLock, RedissonExpirable.expireAsync (4.7).
return redis.call('pexpire', KEYS[1], ARGV[1])
