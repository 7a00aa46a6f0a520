-- Sets the deadlines of one holder to its full lease, up to the first value that another holder has, or none.
-- KEYS[1] lock   ARGV[1] lease, ms   ARGV[2] the caller's wall clock, ms   ARGV[3] holder   ARGV[i] a value, from the fourth on
-- Replies 1 when all are renewed, 0 when one is not the holder's. Those before that one stay renewed.
-- Same rule: model/src/locks/value_multi.rs, renew.   Compare: FastMultilockTask.buildChunk (4.7).
local lock, lease_ms, now_ms, holder = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]

for i = 4, #ARGV do
  if redis.call('hget', lock, ARGV[i]) ~= holder then
    return 0
  end
  local field = ARGV[i] .. ':' .. holder .. ':expire_time'
  if tonumber(redis.call('hget', lock, field)) < now_ms + lease_ms then
    redis.call('hset', lock, field, now_ms + lease_ms)
  end
end

if redis.call('pttl', lock) < lease_ms then
  redis.call('pexpire', lock, lease_ms)
end
return 1
