-- Gives back one hold of each value, and wakes a waiter. Harmless when sent again.
-- KEYS[1] lock   KEYS[2] unlock channel   KEYS[3] release receipt
-- ARGV[1] holder   ARGV[2] unlock message   ARGV[3] lease, ms   ARGV[4] lease of the receipt, ms
-- ARGV[5] the caller's wall clock, ms   ARGV[i] a value, from the sixth on
-- Replies 1 when the holder has none of them any more, 0 when holds remain, nil when the deadline of one was over: what it gave
-- back of the others is given back all the same.
-- Same rule: model/src/locks/value_multi.rs, release.   Compare: RedissonFasterMultiLock.unlockInnerAsync (4.7).
local lock, channel, receipt = KEYS[1], KEYS[2], KEYS[3]
local holder, message, lease_ms, receipt_lease_ms, now_ms =
  ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

-- This request was executed before and its reply was lost: the receipt contains the reply.
local replied = redis.call('get', receipt)
if replied then
  return tonumber(replied)
end

if redis.call('exists', lock) == 0 then
  redis.call('publish', channel, message)
  return nil
end

local is_failed, is_over = false, true
for i = 6, #ARGV do
  local own = ARGV[i] .. ':' .. holder
  local deadline = redis.call('hget', lock, own .. ':expire_time')
  if not deadline or tonumber(deadline) < now_ms then
    is_failed, is_over = true, false
  elseif redis.call('hincrby', lock, own .. ':lock_count', -1) <= 0 then
    -- The value is free then, whoever has it by now.
    redis.call('hdel', lock, own .. ':expire_time', own .. ':lock_count', ARGV[i])
  else
    is_over = false
    if tonumber(deadline) < now_ms + lease_ms then
      redis.call('hset', lock, own .. ':expire_time', now_ms + lease_ms)
    end
  end
end
if is_failed then
  return nil
end

redis.call('publish', channel, message)
redis.call('set', receipt, is_over and 1 or 0, 'px', receipt_lease_ms)
if is_over then
  return 1
end
if redis.call('pttl', lock) < lease_ms then
  redis.call('pexpire', lock, lease_ms)
end
return 0
