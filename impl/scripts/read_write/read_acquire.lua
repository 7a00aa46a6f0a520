-- Takes the lock for reading, or enters it once more: beside other readers, and inside the caller's own write lock.
-- KEYS[1] lock   KEYS[2] hold of the caller, without its number
-- ARGV[1] lease, ms   ARGV[2] reader   ARGV[3] the same as a writer
-- Replies nil when taken; otherwise the remaining lease of the writer, ms.
-- Same rule: model/src/locks/read_write.rs, read.   Compare: RedissonReadLock.tryLockInnerAsync (4.7).
local lock, hold = KEYS[1], KEYS[2]
local lease_ms, reader, writer = tonumber(ARGV[1]), ARGV[2], ARGV[3]

local mode = redis.call('hget', lock, 'mode')
local is_shared = mode == 'read' or (mode == 'write' and redis.call('hexists', lock, writer) == 1)
if mode and not is_shared then
  return redis.call('pttl', lock)
end

local left_ms = mode and redis.call('pttl', lock) or 0
if not mode then
  redis.call('hset', lock, 'mode', 'read')
end
local holds = redis.call('hincrby', lock, reader, 1)
-- Each hold has a TTL of its own; the lock lives as long as the longest of all.
redis.call('set', hold .. ':' .. holds, 1, 'px', lease_ms)
redis.call('pexpire', lock, math.max(left_ms, lease_ms))
return nil
