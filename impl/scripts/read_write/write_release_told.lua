-- Releases one hold of the writer; the last one frees the lock and wakes every waiter. Harmless when sent again.
-- If the writer reads as well, the lock is one of readers from then on, and every waiter is woken too: readers may join it.
-- KEYS[1] lock   KEYS[2] unlock channel   KEYS[3] release receipt
-- ARGV[1] unlock message   ARGV[2] lease, ms   ARGV[3] writer   ARGV[4] lease of the receipt, ms
-- Replies 1 when the writer has no hold left, 0 when holds of it remain, nil when the caller does not hold it. Of a free lock it replies
-- nil as well, and leaves a receipt that says 1.
-- Same rule: model/src/locks/read_write.rs, release_write.   Compare: RedissonWriteLock.unlockInnerAsync (4.7), which tells
-- nobody of a downgrade.
local lock, channel, receipt = KEYS[1], KEYS[2], KEYS[3]
local message, lease_ms, writer, receipt_lease_ms = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

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
if mode ~= 'write' or redis.call('hexists', lock, writer) == 0 then
  return nil
end

local holds = redis.call('hincrby', lock, writer, -1)
if holds > 0 then
  redis.call('pexpire', lock, lease_ms)
  redis.call('set', receipt, 0, 'px', receipt_lease_ms)
  return 0
end

redis.call('hdel', lock, writer)
if redis.call('hlen', lock) == 1 then
  redis.call('del', lock)
else
  redis.call('hset', lock, 'mode', 'read')
end
redis.call('publish', channel, message)
redis.call('set', receipt, 1, 'px', receipt_lease_ms)
return 1
