-- Sets the lease of every reader to its full length again, and fails as soon as somebody has entered twice.
-- It is wrong on purpose, as in Redisson 3.52: at the first field with a count of 2 it ends with an error, after it has renewed the lock
-- and the holds of those before.
-- KEYS[1] lock   KEYS[2] holds of anybody, without reader and number   KEYS[number + 1] the same for a first hold, and nothing for others
-- ARGV[1] lease, ms   ARGV[2] reader
-- Replies 1 if the reader still has it, otherwise 0.
-- Same rule: model/src/locks/read_write.rs, renew, fails nested.   Compare: ReadLockTask.renew (3.52), where an inner loop has the
-- variable of the outer one.
local lock, lease_ms, reader = KEYS[1], ARGV[1], ARGV[2]

if redis.call('hexists', lock, reader) == 0 then
  return 0
end
redis.call('pexpire', lock, lease_ms)
for _, field in ipairs(redis.call('hkeys', lock)) do
  local holds = tonumber(redis.call('hget', lock, field))
  for number = holds or 0, 1, -1 do
    redis.call('pexpire', KEYS[number + 1] .. ':' .. field .. ':rwlock_timeout:' .. number, lease_ms)
  end
end
return 1
