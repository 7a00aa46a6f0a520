-- Whether one holder has its values from the second one on, by its own deadlines. A caller of one value has it as soon as anybody has a value.
-- KEYS[1] lock   ARGV[1] the caller's wall clock, ms   ARGV[2] holder   ARGV[i] a value, from the third on
-- Replies 1 if it has, 0 if it has not.
-- Same rule: model/src/locks/value_multi.rs, ask_if_held.   Compare: RedissonFasterMultiLock.isHeldByThreadAsync (4.7).
local lock, now_ms, holder = KEYS[1], tonumber(ARGV[1]), ARGV[2]

if redis.call('exists', lock) == 0 then
  return 0
end
for i = 4, #ARGV do
  local deadline = redis.call('hget', lock, ARGV[i] .. ':' .. holder .. ':expire_time')
  if not deadline or tonumber(deadline) < now_ms then
    return 0
  end
end
return 1
