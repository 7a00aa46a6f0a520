-- Sets the lease to its full length again, if the writer still has the lock.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] writer
-- Replies 1 if it has, otherwise 0.
-- Same rule: model/src/locks/read_write.rs, renew.   Compare: LockTask.renew (4.7).
local lock, lease_ms, writer = KEYS[1], ARGV[1], ARGV[2]

if redis.call('hexists', lock, writer) == 0 then
  return 0
end
redis.call('pexpire', lock, lease_ms)
return 1
