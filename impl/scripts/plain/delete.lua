-- Releases the lock, whoever holds it: what the Redis documentation warns of.
-- KEYS[1] lock
-- Replies 1 when there was a lock, 0 when there was none.
-- Same rule: model/src/locks/plain.rs, deleted.   Compare: the Redis documentation, "simply deleting".
return redis.call('del', KEYS[1])
