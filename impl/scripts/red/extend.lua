-- Sets the lease to its full length again on one of several masters, if its key is of this round.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] value of the round
-- Replies 1 when extended, 0 when there is no key of this round.
-- Same rule: model/src/locks/red.rs, extend.   Compare: the Redis documentation, The Redlock Algorithm, Extending the lock.
local lock, lease_ms, value = KEYS[1], ARGV[1], ARGV[2]

-- A holder asks every master, also one that has refused it: without this test it would extend what another one has there.
if redis.call('get', lock) ~= value then
  return 0
end

redis.call('pexpire', lock, lease_ms)
return 1
