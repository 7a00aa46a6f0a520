-- Takes a permit if one is free, once it has removed everybody whose time is over by the caller's clock. A holder has one at most.
-- KEYS[1] lock   ARGV[1] permits   ARGV[2] holder   ARGV[3] lease, ms   ARGV[4] the caller's wall clock, ms
-- Replies 1 when taken, 0 when all permits are taken, also by the caller itself.
-- Same rule: model/src/locks/semaphore.rs, acquire.   Compare: acquireLua (redis-semaphore 5.8.0).
local lock, permits, holder = KEYS[1], tonumber(ARGV[1]), ARGV[2]
local lease_ms, now_ms = tonumber(ARGV[3]), tonumber(ARGV[4])

redis.call('zremrangebyscore', lock, '-inf', now_ms - lease_ms)
if redis.call('zcard', lock) >= permits then
  return 0
end

redis.call('zadd', lock, now_ms, holder)
redis.call('pexpire', lock, lease_ms)
return 1
