-- Releases the lock on one of several masters, if its key is of this round.
-- KEYS[1] lock   ARGV[1] value of the round
-- Replies 1 when released, 0 when there is no key of this round.
-- Same rule: model/src/locks/red.rs, release.   Compare: the Redis documentation, The Redlock Algorithm, step 5.
local lock, value = KEYS[1], ARGV[1]

-- A client releases on every master, also where it was refused: without this test it would free what another one has there.
if redis.call('get', lock) ~= value then
  return 0
end

redis.call('del', lock)
return 1
