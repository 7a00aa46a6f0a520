-- Sets the lease to its full length again if it is still the one that this acquire took.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] value of the acquire
-- Replies 1 when extended, 0 when the caller does not hold the lock.
-- Same rule: model/src/locks/plain.rs, extend.   Compare: the Redis documentation, compare and expire.
local lock, lease_ms, value = KEYS[1], ARGV[1], ARGV[2]

local is_mine = redis.call('get', lock) == value
if not is_mine then
  return 0
end

redis.call('pexpire', lock, lease_ms)
return 1
