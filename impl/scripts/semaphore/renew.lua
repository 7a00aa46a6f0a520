-- Begins the lease of a permit anew if its holder still has it, once it has removed everybody whose time is over by the caller's clock.
-- KEYS[1] lock   ARGV[1] holder   ARGV[2] lease, ms   ARGV[3] the caller's wall clock, ms
-- Replies 1 when renewed, 0 when the caller holds no permit.
-- Same rule: model/src/locks/semaphore.rs, renew.   Compare: refreshLua (redis-semaphore 5.8.0).
local lock, holder, lease_ms, now_ms = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

redis.call('zremrangebyscore', lock, '-inf', now_ms - lease_ms)
if not redis.call('zscore', lock, holder) then
  return 0
end

redis.call('zadd', lock, now_ms, holder)
redis.call('pexpire', lock, lease_ms)
return 1
