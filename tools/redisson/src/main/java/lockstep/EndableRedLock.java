package lockstep;

import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;

/** Redisson's lock on most of several masters, whose calls end with their client, as those of an {@link EndableMultiLock} do. */
final class EndableRedLock extends RedissonRedLock {
    EndableRedLock(RLock... locks) {
        super(locks);
    }

    @Override
    protected int failedLocksLimit() {
        CallThread.attempt();
        return super.failedLocksLimit();
    }
}
