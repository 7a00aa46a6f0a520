-- Frees the lock if it is in this mode, no matter who holds it. Holds of readers stay until their TTL.
-- KEYS[1] lock   KEYS[2] unlock channel   ARGV[1] unlock message   ARGV[2] mode
-- Replies 1 if it was, otherwise 0.
-- Same rule: model/src/locks/read_write.rs, force.   Compare: RedissonReadLock, RedissonWriteLock.forceUnlockAsync (4.7).
local lock, channel, message, mode = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

if redis.call('hget', lock, 'mode') ~= mode then
  return 0
end
redis.call('del', lock)
redis.call('publish', channel, message)
return 1
