-- Releases the lock if the caller still holds it. The key stays, and with it whose turn it is to be refused.
-- KEYS[1] lock   ARGV[1] holder
-- Replies 1 when released, 0 when the caller does not hold the lock.
-- Same rule: model/src/locks/toy.rs, release.   Compare: nothing, this lock is for tests.
local lock, holder = KEYS[1], ARGV[1]

return redis.call('hdel', lock, holder)
