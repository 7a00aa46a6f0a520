-- Sets the lease of every reader to its full length again, if the caller is one of them: that of each hold, and that of the lock.
-- KEYS[1] lock   KEYS[2] holds of anybody, without reader and number
-- ARGV[1] lease, ms   ARGV[2] reader
-- Replies 1 if the reader still has it, otherwise 0.
-- Same rule: model/src/locks/read_write.rs, renew, all holds.   Compare: ReadLockTask.renew (4.3).
local lock, any_hold, lease_ms, reader = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

if redis.call('hexists', lock, reader) == 0 then
  return 0
end
redis.call('pexpire', lock, lease_ms)
for _, field in ipairs(redis.call('hkeys', lock)) do
  local holds = tonumber(redis.call('hget', lock, field))
  for number = holds or 0, 1, -1 do
    redis.call('pexpire', any_hold .. ':' .. field .. ':rwlock_timeout:' .. number, lease_ms)
  end
end
return 1
