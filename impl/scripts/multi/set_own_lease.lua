-- Sets the TTL of a part if the caller still has it: the last step of an acquire that names its lease.
-- KEYS[1] part   ARGV[1] lease, ms   ARGV[2] holder
-- Replies 1 when the caller has it, 0 when it has not.
-- Same rule: model/src/locks/multi.rs, set_ttl.   Compare: Redisson has no such script.
local part = KEYS[1]
local lease_ms, holder = ARGV[1], ARGV[2]

local is_mine = redis.call('hexists', part, holder) == 1
if not is_mine then
  return 0
end
return redis.call('pexpire', part, lease_ms)
