-- Takes the lock for writing, or enters it once more.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] writer
-- Replies nil when taken; otherwise the remaining lease of the others, ms: also a reader is refused beside itself.
-- Same rule: model/src/locks/read_write.rs, write.   Compare: RedissonWriteLock.tryLockInnerAsync (4.7).
local lock, lease_ms, writer = KEYS[1], ARGV[1], ARGV[2]

local mode = redis.call('hget', lock, 'mode')
if not mode then
  redis.call('hset', lock, 'mode', 'write')
  redis.call('hset', lock, writer, 1)
  redis.call('pexpire', lock, lease_ms)
  return nil
end

if mode == 'write' and redis.call('hexists', lock, writer) == 1 then
  -- Entering once more adds its lease to what is left.
  redis.call('hincrby', lock, writer, 1)
  redis.call('pexpire', lock, redis.call('pttl', lock) + lease_ms)
  return nil
end
return redis.call('pttl', lock)
