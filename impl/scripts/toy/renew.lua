-- Sets the lease to its full length again if the caller still holds the lock.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] holder
-- Replies 1 when renewed, 0 when the caller does not hold the lock.
-- Same rule: model/src/locks/toy.rs, renew.   Compare: nothing, this lock is for tests.
local lock, lease_ms, holder = KEYS[1], ARGV[1], ARGV[2]

local is_mine = redis.call('hexists', lock, holder) == 1
if not is_mine then
  return 0
end

redis.call('pexpire', lock, lease_ms)
return 1
