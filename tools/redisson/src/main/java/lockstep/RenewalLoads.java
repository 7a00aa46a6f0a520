package lockstep;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Loads in which renewals go wrong. */
final class RenewalLoads {
    /** Clients of one thread each: while a client holds another lock, it starts no further renewal timer. */
    private static final int CLIENTS = 8;
    /** With long leases more clients hold at the same time, one for each so many milliseconds of a lease. */
    private static final int LEASE_MS_PER_CLIENT = 1_000;
    /** Holds before each one that is looked at. */
    private static final int QUICK_HOLDS = 20;
    private static final int LONGEST_QUICK_HOLD_US = 4_000;
    /** How long each of the holds takes that make timers. */
    private static final int TIMER_HOLD_MS = 20;
    /** How many of them there are on a machine that is slow. */
    private static final int LEAST_CYCLES = 50;

    private static final int OVERWRITING_ROUNDS = 10;
    private static final int LOCKS = 10;

    private RenewalLoads() {}

    /**
     * Each client takes and releases its lock all the time, and holds it for longer than a lease now and then. Seen: such a
     * hold of which nothing is left at its end. Beside them a client holds a lock throughout: what it loses is lost because
     * the machine is slow.
     */
    static Counts quickHolds(Load.Setting setting, boolean hasLease) throws Exception {
        Counts counts = new Counts();
        long endNs = setting.endNs();
        RedissonClient steady = setting.connect();
        String steadyName = "steady-" + hasLease;
        steady.getLock(steadyName).lock();
        String steadyHolder = holder(steady);
        int clients = Math.toIntExact(Math.max(CLIENTS, setting.watchdogMs() / LEASE_MS_PER_CLIENT));
        counts.note("clients", clients);
        Together.run("quick-holds", clients, number -> {
            RedissonClient client = setting.connect();
            String name = "quick-" + hasLease + "-" + number;
            RLock lock = client.getLock(name);
            Random random = new Random(number);
            try (RedisLook look = setting.look()) {
                do {
                    for (int quick = 0; quick < QUICK_HOLDS; quick++) {
                        take(lock, hasLease);
                        LockSupport.parkNanos(random.nextInt(LONGEST_QUICK_HOLD_US) * 1_000L);
                        release(lock);
                    }
                    take(lock, hasLease);
                    Thread.sleep(setting.longerThanLeaseMs());
                    boolean isLost = !look.isHeld(name, holder(client));
                    counts.add(isLost);
                    counts.note("steady_lost", look.isHeld(steadyName, steadyHolder) ? 0 : 1);
                    release(lock);
                } while (System.nanoTime() < endNs);
            }
            client.shutdown(0, 2, TimeUnit.SECONDS);
        });
        steady.shutdown(0, 2, TimeUnit.SECONDS);
        return counts;
    }

    private static void take(RLock lock, boolean hasLease) {
        if (hasLease) {
            lock.lock(1, TimeUnit.HOURS);
        } else {
            lock.lock();
        }
    }

    /** Of a hold that is lost the application is told now, and not before: by an exception, which ends no load. */
    static void release(RLock lock) {
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException lost) {
            // It was counted.
        }
    }

    /**
     * A client takes and releases its lock for a while, and then holds it for two leases. Seen: the renewals of that hold.
     * Attempts: as many as one timer can send.
     */
    static Counts renewalRate(Load.Setting setting, boolean rests) throws Exception {
        Counts counts = new Counts();
        RedissonClient client = setting.connect();
        RLock lock = client.getLock("rate");
        long endNs = setting.endNs();
        int cycles = 0;
        for (; cycles < LEAST_CYCLES || System.nanoTime() < endNs; cycles++) {
            lock.lock();
            Thread.sleep(TIMER_HOLD_MS);
            release(lock);
        }
        if (rests) {
            Thread.sleep(setting.watchdogMs());
        }
        lock.lock();
        try (RedisLook look = setting.look()) {
            long beginNs = System.nanoTime();
            long before = look.executed("eval", "evalsha");
            Thread.sleep(2 * setting.watchdogMs());
            long renewals = look.executed("eval", "evalsha") - before;
            long elapsedMs = (System.nanoTime() - beginNs) / 1_000_000;
            counts.add(elapsedMs / (setting.watchdogMs() / 3) + 1, renewals);
            counts.note("cycles", cycles);
            counts.note("elapsed_ms", elapsedMs);
        }
        release(lock);
        client.shutdown(0, 2, TimeUnit.SECONDS);
        return counts;
    }

    /**
     * Clients hold ten locks each, and somebody stores a string under the name of one. Seen: another one of the ten of
     * which nothing is left a lease later.
     */
    static Counts overwrittenKey(Load.Setting setting, boolean isOverwritten) throws Exception {
        Counts counts = new Counts();
        Random random = new Random(1);
        int[] overwritten = random.ints(OVERWRITING_ROUNDS, 0, LOCKS).toArray();
        Together.run("overwritten-key", OVERWRITING_ROUNDS, round -> {
            RedissonClient client = setting.connect();
            String prefix = "ten-" + isOverwritten + "-" + round + "-";
            try (RedisLook look = setting.look()) {
                for (int number = 0; number < LOCKS; number++) {
                    client.getLock(prefix + number).lock();
                }
                if (isOverwritten) {
                    look.ask("SET", prefix + overwritten[round], "a string");
                }
                Thread.sleep(setting.longerThanLeaseMs());
                for (int number = 0; number < LOCKS; number++) {
                    if (number != overwritten[round]) {
                        counts.add(!look.isHeld(prefix + number, holder(client)));
                    }
                }
            }
            client.shutdown(0, 2, TimeUnit.SECONDS);
        });
        return counts;
    }

    /** What Redisson stores for this thread. */
    static String holder(RedissonClient client) {
        return client.getId() + ":" + Thread.currentThread().getId();
    }
}
