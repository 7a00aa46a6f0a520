-- Takes the lock for one holder, or enters it once more if that holder has it already, and answers the token of this grant.
-- KEYS[1] lock   KEYS[2] counter of tokens   ARGV[1] lease, ms   ARGV[2] holder
-- Replies {-1, token} when taken; otherwise {remaining lease of the other holder in ms, -1}. A lock without a TTL has -1 left,
-- so that {-1, -1} is a refusal.
-- Same rule: model/src/locks/fenced.rs, acquire.   Compare: RedissonFencedLock.tryLockAndGetTokenInnerAsync (4.7).
local lock, counter = KEYS[1], KEYS[2]
local lease_ms, holder = ARGV[1], ARGV[2]

local is_free = redis.call('exists', lock) == 0
local is_mine = redis.call('hexists', lock, holder) == 1
if not (is_free or is_mine) then
  return { redis.call('pttl', lock), -1 }
end

local token = redis.call('incr', counter)
redis.call('hincrby', lock, holder, 1)
redis.call('pexpire', lock, lease_ms)
return { -1, token }
