-- Gives the lock back if the one who asks still holds it.
-- KEYS[1] lock   ARGV[1] holder
-- Replies 1 when released, 0 when it was not the caller's.
-- Same rule: model/src/locks/plain.rs, release.   Compare: the Redis documentation, compare and delete.
local lock, holder = KEYS[1], ARGV[1]

-- A bare DEL would also free the lock of whoever came after our lease ran out.
local is_mine = redis.call('get', lock) == holder
if not is_mine then
  return 0
end

redis.call('del', lock)
return 1
