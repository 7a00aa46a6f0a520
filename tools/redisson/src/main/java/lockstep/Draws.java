package lockstep;

import java.lang.reflect.Field;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** What a lock that joins several draws by chance: how long one round of a call takes that names a lease. */
final class Draws {
    /** So many draws may lie between the first round and the second one: also the ids of releases are drawn. */
    private static final int LATER_DRAWS = 12;
    private static final int TRIES = 50_000_000;

    private Draws() {}

    /**
     * The next number that the calling thread draws is the wait of the first round: {@code waitMs}. That of the second round is
     * long, in whichever of the next draws it is made. {@code joined}: how many locks its lock joins.
     */
    static void steer(long leaseSeconds, long waitMs, long joined) throws ReflectiveOperationException {
        long leaseMs = TimeUnit.SECONDS.toMillis(leaseSeconds);
        // RedissonMultiLock.lockInterruptibly: 1,500 ms for each of its locks.
        long usualMs = 1_500 * joined;
        long from = leaseMs <= usualMs ? leaseMs / 2 : usualMs;
        long to = leaseMs <= usualMs ? leaseMs : Math.max(leaseMs, usualMs + 1);
        long laterTo = TimeUnit.SECONDS.toMillis(leaseMs);
        Field seed = Thread.class.getDeclaredField("threadLocalRandomSeed");
        seed.setAccessible(true);
        Thread thread = Thread.currentThread();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (long candidate = 0; candidate < TRIES; candidate++) {
            seed.setLong(thread, candidate);
            if (random.nextLong(from, to) != waitMs) {
                continue;
            }
            int later = 0;
            while (later < LATER_DRAWS && random.nextLong(usualMs, laterTo) >= laterTo / 8) {
                later++;
            }
            if (later == LATER_DRAWS) {
                seed.setLong(thread, candidate);
                return;
            }
        }
        throw new IllegalStateException("no seed by which a round takes " + waitMs + " ms");
    }
}
