-- Releases the lock if the caller still holds it.
-- KEYS[1] lock   ARGV[1] holder
-- Replies 1 when released, 0 when the caller does not hold the lock.
-- Same rule: model/src/locks/plain.rs, release.   Compare: the Redis documentation, compare and delete.
local lock, holder = KEYS[1], ARGV[1]

-- A DEL without this test would also free the lock of a client that took it after our lease ran out.
local is_mine = redis.call('get', lock) == holder
if not is_mine then
  return 0
end

redis.call('del', lock)
return 1
