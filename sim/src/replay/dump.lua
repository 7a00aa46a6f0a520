-- Tells everything the server stores, key by key, in no order: all of it belongs to the lock.
-- No KEYS, no ARGV.
-- Replies a list of {key, type, time to live in ms (-1: for ever), content as a flat list}.
-- Asked of every live node after every step; compare.rs reads it.
local told = {}
for _, key in ipairs(redis.call('keys', '*')) do
  local kind = redis.call('type', key)['ok']
  local content = {}
  if kind == 'hash' then
    content = redis.call('hgetall', key)
  elseif kind == 'string' then
    content = { redis.call('get', key) }
  elseif kind == 'list' then
    content = redis.call('lrange', key, 0, -1)
  elseif kind == 'zset' then
    content = redis.call('zrange', key, 0, -1, 'withscores')
  end
  told[#told + 1] = { key, kind, redis.call('pttl', key), content }
end
return told
