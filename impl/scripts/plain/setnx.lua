-- Takes the lock if it is free, without a TTL: the first of two commands, to show what becomes of that.
-- KEYS[1] lock   ARGV[1] value, of this acquire alone
-- Replies OK when taken, nil when the lock is held.
-- Same rule: model/src/locks/plain.rs, acquire.   Compare: the Redis documentation, SETNX.
if redis.call('setnx', KEYS[1], ARGV[1]) == 0 then
  return nil
end

return redis.status_reply('OK')
