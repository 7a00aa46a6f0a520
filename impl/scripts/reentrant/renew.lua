-- Sets the lease to its full length again, for every lock in the batch that its holder still has.
-- KEYS[i] lock   ARGV[1] lease, ms   ARGV[i + 1] holder of KEYS[i]
-- Replies a list, one number per lock: 1 renewed, 0 not held. A lock that is gone is not created again.
-- Same rule: model/src/locks/reentrant.rs, renew.   Compare: LockTask.renew (4.7).
local locks, lease_ms = KEYS, ARGV[1]

local answers = {}
for i, lock in ipairs(locks) do
  local holder = ARGV[i + 1]
  local is_held = redis.call('hexists', lock, holder) == 1
  if is_held then
    redis.call('pexpire', lock, lease_ms)
  end
  answers[i] = is_held and 1 or 0
end
return answers
