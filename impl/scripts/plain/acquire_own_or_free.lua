-- Takes the lock if it is free, or if it has the caller's own value: then its lease begins anew.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] value
-- Replies OK when taken, nil when somebody else holds the lock.
-- Same rule: model/src/locks/plain.rs, acquired_by_script.   Compare: docs/facts/libraries.md, Spring Integration.
local lock, lease_ms, value = KEYS[1], ARGV[1], ARGV[2]

local stored = redis.call('get', lock)
if stored == value then
  redis.call('pexpire', lock, lease_ms)
  return redis.status_reply('OK')
end
if stored then
  return nil
end

return redis.call('set', lock, value, 'px', lease_ms)
