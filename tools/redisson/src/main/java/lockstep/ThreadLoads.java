package lockstep;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Loads in which one thread of a client harms another. */
final class ThreadLoads {
    /** Pairs of threads, each with a lock of its own. */
    private static final int PAIRS = 20;

    private ThreadLoads() {}

    /**
     * Two threads share one lock object. The first names a lease of a fifth of the watchdog's, and releases at once or only when
     * that has run out; the second calls {@code lock()}. Seen: the second one's hold has ended by itself.
     */
    static Counts sharedObject(Load.Setting setting, boolean isLate) throws Exception {
        Counts counts = new Counts();
        RedissonClient client = setting.connect();
        long leaseMs = setting.watchdogMs() / 5;
        Together.run("shared-object", PAIRS, pair -> {
            String name = "shared-" + isLate + "-" + pair;
            RLock lock = client.getLock(name);
            CountDownLatch isTaken = new CountDownLatch(1);
            FutureTask<Void> first = Together.begin("first", pair, number -> {
                if (!lock.tryLock(0, leaseMs, TimeUnit.MILLISECONDS)) {
                    throw new IllegalStateException("nobody else has " + name);
                }
                isTaken.countDown();
                if (isLate) {
                    Thread.sleep(2 * leaseMs);
                }
                try {
                    lock.unlock();
                } catch (IllegalMonitorStateException lost) {
                    if (!isLate) {
                        counts.note("late_all_the_same", 1);
                    }
                }
            });
            if (!isTaken.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the first thread did not take " + name + " within 30 s");
            }
            if (!isLate) {
                first.get();
            }
            hold(setting, client, lock, counts);
            first.get();
        });
        client.shutdown(0, 2, TimeUnit.SECONDS);
        return counts;
    }

    /**
     * A thread names a lease of a fifth of the watchdog's for a lock that another object holds, and is refused; when that is released
     * it calls {@code lock()} by the same object. Seen: its hold has ended by itself.
     */
    static Counts refusedCall(Load.Setting setting, boolean spins) throws Exception {
        Counts counts = new Counts();
        RedissonClient client = setting.connect();
        RedissonClient other = setting.connect();
        long leaseMs = setting.watchdogMs() / 5;
        Together.run("refused-call", PAIRS, pair -> {
            String name = "refused-" + spins + "-" + pair;
            RLock held = other.getLock(name);
            held.lock();
            RLock lock = spins ? client.getSpinLock(name) : client.getLock(name);
            if (lock.tryLock(0, leaseMs, TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("somebody else has " + name);
            }
            held.unlock();
            hold(setting, client, lock, counts);
        });
        client.shutdown(0, 2, TimeUnit.SECONDS);
        other.shutdown(0, 2, TimeUnit.SECONDS);
        return counts;
    }

    /** A thread takes a lock twice and releases it twice; then another one holds it. Seen: that hold has ended by itself. */
    static Counts nestedHolds(Load.Setting setting) throws Exception {
        return afterAnother(setting, "nested", (lock, look) -> {
            lock.lock();
            lock.lock();
            RenewalLoads.release(lock);
            RenewalLoads.release(lock);
        });
    }

    /**
     * A thread takes a lock several times, and somebody deletes the key; then another one holds it. Seen: that hold has ended by
     * itself.
     */
    static Counts deletedKey(Load.Setting setting, int holds) throws Exception {
        return afterAnother(setting, "deleted", (lock, look) -> {
            for (int hold = 0; hold < holds; hold++) {
                lock.lock();
            }
            look.ask("DEL", lock.getName());
        });
    }

    /** What the first of two threads does. */
    private interface First {
        void run(RLock lock, RedisLook look) throws Exception;
    }

    private static Counts afterAnother(Load.Setting setting, String prefix, First work) throws Exception {
        Counts counts = new Counts();
        RedissonClient client = setting.connect();
        Together.run(prefix, PAIRS, pair -> {
            RLock lock = client.getLock(prefix + "-" + pair);
            FutureTask<Void> first = Together.begin("first", pair, number -> {
                try (RedisLook look = setting.look()) {
                    work.run(lock, look);
                }
            });
            first.get();
            hold(setting, client, lock, counts);
        });
        client.shutdown(0, 2, TimeUnit.SECONDS);
        return counts;
    }

    /** Holds a lock for longer than a lease, under the watchdog, and looks whether it is still held at the end. */
    private static void hold(Load.Setting setting, RedissonClient client, RLock lock, Counts counts) throws Exception {
        lock.lock();
        Thread.sleep(setting.longerThanLeaseMs());
        try (RedisLook look = setting.look()) {
            counts.add(!look.isHeld(lock.getName(), RenewalLoads.holder(client)));
        }
    }
}
