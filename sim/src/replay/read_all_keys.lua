-- Reads everything that the server stores, key by key, in no order: all of it belongs to the lock.
-- No KEYS, no ARGV.
-- Replies a list of {key, type, time to live in ms (-1: for ever), content as a flat list}.
-- Sent to every node that runs after every step; compare.rs reads the answer.
local found = {}
for _, key in ipairs(redis.call('keys', '*')) do
  local key_type = redis.call('type', key)['ok']
  local content = {}
  if key_type == 'hash' then
    content = redis.call('hgetall', key)
  elseif key_type == 'string' then
    content = { redis.call('get', key) }
  elseif key_type == 'list' then
    content = redis.call('lrange', key, 0, -1)
  elseif key_type == 'zset' then
    content = redis.call('zrange', key, 0, -1, 'withscores')
  end
  found[#found + 1] = { key, key_type, redis.call('pttl', key), content }
end
return found
