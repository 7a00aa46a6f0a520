-- Takes the lock if it is free, but refuses every second request.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] holder
-- Replies 1 when taken, 0 when refused.
-- Same rule: model/src/locks/toy.rs, acquire.   Compare: nothing, this lock is for tests.
local lock, lease_ms, holder = KEYS[1], ARGV[1], ARGV[2]

local refuses = redis.call('hget', lock, 'refuses') == '1'
-- The field 'refuses' stays when the lock is released; another field is its holder.
local is_held = redis.call('hlen', lock) > 1
redis.call('hset', lock, 'refuses', refuses and 0 or 1)
if refuses or is_held then
  return 0
end

redis.call('hset', lock, holder, 1)
redis.call('pexpire', lock, lease_ms)
return 1
