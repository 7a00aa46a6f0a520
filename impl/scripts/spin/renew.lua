-- Sets the lease to its full length again, for the lock that its holder still has.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] holder
-- Replies a list of one number: 1 renewed, 0 not held. A lock that is gone is not created again.
-- Same rule: model/src/locks/spin.rs, renew.   Compare: LockTask.renew (4.7), which renews several locks at once.
local lock, lease_ms, holder = KEYS[1], ARGV[1], ARGV[2]

local is_held = redis.call('hexists', lock, holder) == 1
if is_held then
  redis.call('pexpire', lock, lease_ms)
end
return { is_held and 1 or 0 }
