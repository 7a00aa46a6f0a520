-- Reads the counter of tokens: the newest that was issued, to whomever.
-- KEYS[1] counter of tokens
-- Replies the token; nil when none was issued, or the counter was lost.
-- Same rule: model/src/locks/fenced.rs, token_counter.   Compare: RedissonFencedLock.getTokenAsync (4.7).
local token = redis.call('get', KEYS[1])
return token and tonumber(token) or nil
