-- Releases one hold of a reader; the last hold of all frees the lock and wakes a waiter. Harmless when sent again.
-- KEYS[1] lock   KEYS[2] unlock channel   KEYS[3] hold of the caller, without its number   KEYS[4] holds of anybody, without
-- reader and number   KEYS[5] release receipt
-- ARGV[1] unlock message   ARGV[2] reader   ARGV[3] lease of the receipt, ms
-- Replies 1 when the lock is free now, 0 when holds remain, nil when the caller does not hold it. Of a free lock it replies nil as well,
-- and leaves a receipt that says 1.
-- Same rule: model/src/locks/read_write.rs, release_read.   Compare: RedissonReadLock.unlockInnerAsync (4.7).
local lock, channel, hold, any_hold, receipt = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local message, reader, receipt_lease_ms = ARGV[1], ARGV[2], ARGV[3]

-- This request was executed before and its reply was lost: the receipt contains the reply.
local replied = redis.call('get', receipt)
if replied then
  return tonumber(replied)
end

local mode = redis.call('hget', lock, 'mode')
if not mode then
  redis.call('publish', channel, message)
  redis.call('set', receipt, 1, 'px', receipt_lease_ms)
  return nil
end
if redis.call('hexists', lock, reader) == 0 then
  return nil
end

local holds = redis.call('hincrby', lock, reader, -1)
if holds == 0 then
  redis.call('hdel', lock, reader)
end
redis.call('del', hold .. ':' .. holds + 1)

if redis.call('hlen', lock) > 1 then
  -- The lock lives as long as the longest hold of a reader that is left: holds of a writer have no TTL of their own.
  local longest_ms = -3
  for _, field in ipairs(redis.call('hkeys', lock)) do
    local count = tonumber(redis.call('hget', lock, field))
    if count then
      for number = count, 1, -1 do
        local left_ms = redis.call('pttl', any_hold .. ':' .. field .. ':rwlock_timeout:' .. number)
        longest_ms = math.max(longest_ms, left_ms)
      end
    end
  end
  if longest_ms > 0 then
    redis.call('pexpire', lock, longest_ms)
    redis.call('set', receipt, 0, 'px', receipt_lease_ms)
    return 0
  end
  if mode == 'write' then
    redis.call('set', receipt, 0, 'px', receipt_lease_ms)
    return 0
  end
end

redis.call('del', lock)
redis.call('publish', channel, message)
redis.call('set', receipt, 1, 'px', receipt_lease_ms)
return 1
