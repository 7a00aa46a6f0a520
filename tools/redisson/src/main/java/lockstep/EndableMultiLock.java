package lockstep;

import org.redisson.RedissonMultiLock;
import org.redisson.api.RLock;

/**
 * Redisson's multi lock, whose calls end with their client.
 *
 * <p>A caller that takes several locks as one swallows every exception, also an interrupt and that of a client that was shut down,
 * and begins anew for ever, in the end without a wait. It does not catch an error; and at the beginning of each attempt, and after
 * each lock that it did not get, it asks this method how many it may fail to get, outside of what it catches
 * (RedissonMultiLock.java, {@code tryLock(long, long, TimeUnit)}, the same in 3.15.6 and 4.7.0). The answer is Redisson's own.
 *
 * <p>Where the clocks stand still and each of its requests fails without being sent, such a call would go round for ever: that
 * ends it as well ({@link CallThread#attempt}).
 */
final class EndableMultiLock extends RedissonMultiLock {
    EndableMultiLock(RLock... locks) {
        super(locks);
    }

    @Override
    protected int failedLocksLimit() {
        CallThread.attempt();
        return super.failedLocksLimit();
    }
}
