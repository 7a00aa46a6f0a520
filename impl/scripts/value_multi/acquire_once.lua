-- Takes all values for one holder, or enters them once more; none of them if another holder has one.
-- KEYS[1] lock   ARGV[1] the caller's wall clock, ms   ARGV[2] lease, ms   ARGV[3] holder   ARGV[i] a value, from the fourth on
-- Replies 1 when taken, 0 when refused.
-- Same rule: model/src/locks/value_multi.rs, acquire.   Compare: RedissonFasterMultiLock.tryLockOnceInnerAsync (4.7).
local lock, now_ms, lease_ms, holder = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

local is_there = redis.call('exists', lock) == 1
for i = 4, #ARGV do
  local other = redis.call('hget', lock, ARGV[i])
  if other and other ~= holder then
    local deadline = redis.call('hget', lock, ARGV[i] .. ':' .. other .. ':expire_time')
    if tonumber(deadline) > now_ms then
      return 0
    end
  end
end

for i = 4, #ARGV do
  local own = ARGV[i] .. ':' .. holder
  redis.call('hset', lock, ARGV[i], holder)
  local deadline = redis.call('hget', lock, own .. ':expire_time')
  if not deadline or tonumber(deadline) < now_ms + lease_ms then
    redis.call('hset', lock, own .. ':expire_time', now_ms + lease_ms)
  end
  -- Also upon what an earlier hold of this holder has left behind.
  redis.call('hincrby', lock, own .. ':lock_count', 1)
end

-- A lock in its last millisecond has 0 left, and one without a TTL -1: both stay as they are.
local left_ms = redis.call('pttl', lock)
if not is_there or (left_ms > 0 and left_ms < lease_ms) then
  redis.call('pexpire', lock, lease_ms)
end
return 1
