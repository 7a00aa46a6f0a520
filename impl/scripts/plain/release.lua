-- Releases the lock if it is still the one that this acquire took.
-- KEYS[1] lock   ARGV[1] value of the acquire
-- Replies 1 when released, 0 when the caller does not hold the lock.
-- Same rule: model/src/locks/plain.rs, release.   Compare: the Redis documentation, compare and delete.
local lock, value = KEYS[1], ARGV[1]

-- A DEL without this test would also free the lock of a client that took it after our lease ran out; with a value that is
-- not of one acquire alone, a late release would free the caller's own next lock.
local is_mine = redis.call('get', lock) == value
if not is_mine then
  return 0
end

redis.call('del', lock)
return 1
