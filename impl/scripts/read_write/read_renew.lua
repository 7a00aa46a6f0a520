-- Sets the lease of a reader to its full length again: that of each of its holds, and that of the lock.
-- KEYS[1] lock   KEYS[2] holds of anybody, without reader and number
-- ARGV[1] lease, ms   ARGV[2] reader
-- Replies 1 if the reader still has it, otherwise 0.
-- Same rule: model/src/locks/read_write.rs, renew.   Compare: ReadLockTask.renew (4.7).
local lock, any_hold, lease_ms, reader = KEYS[1], KEYS[2], ARGV[1], ARGV[2]

local holds = tonumber(redis.call('hget', lock, reader) or 0)
if holds == 0 then
  return 0
end
redis.call('pexpire', lock, lease_ms)
for number = holds, 1, -1 do
  redis.call('pexpire', any_hold .. ':' .. reader .. ':rwlock_timeout:' .. number, lease_ms)
end
return 1
