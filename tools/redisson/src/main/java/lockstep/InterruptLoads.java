package lockstep;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/** Loads in which callers are interrupted, or give up. */
final class InterruptLoads {
    private static final int CALLS = 100;
    private static final int WAITERS = 20;
    /** Calls by which it is seen how long an acquire takes. */
    private static final int PROBES = 51;
    /** How long a thread may take to wait for a lock. */
    private static final long WITHIN_NS = 20_000_000_000L;

    private InterruptLoads() {}

    /**
     * Calls of {@code lock()} on free locks, by a thread whose interrupt flag is set. Seen: the call threw, and the lock is still
     * held when its lease is over.
     */
    static Counts flagSet(Load.Setting setting, boolean isSet) throws Exception {
        Counts counts = new Counts();
        RedissonClient client = setting.connect();
        List<String> left = new ArrayList<>();
        for (int call = 0; call < CALLS; call++) {
            String name = "flag-" + isSet + "-" + call;
            RLock lock = client.getLock(name);
            if (isSet) {
                Thread.currentThread().interrupt();
            }
            boolean hasThrown = isInterrupted(lock::lock);
            Thread.interrupted();
            if (hasThrown) {
                left.add(name);
            } else {
                RenewalLoads.release(lock);
            }
        }
        counts.note("threw", left.size());
        counts.add(CALLS, stillHeld(setting, left));
        client.shutdown(0, 2, TimeUnit.SECONDS);
        return counts;
    }

    /**
     * Calls of {@code lock()} on free locks, each interrupted at a random moment, beside a thread that takes and releases another
     * lock all the time. Seen: the call threw, and the lock is still held when its lease is over.
     */
    static Counts interruptedAcquire(Load.Setting setting) throws Exception {
        Counts counts = new Counts();
        ExecutorService interrupting = Executors.newSingleThreadExecutor();
        inRounds(setting, "interrupted", counts, (lock, moment) -> {
            Thread caller = Thread.currentThread();
            Future<?> shot = interrupting.submit(() -> {
                LockSupport.parkNanos(moment);
                caller.interrupt();
            });
            boolean hasThrown = isInterrupted(lock::lock);
            // The next call begins without an interrupt: not before this one has come.
            while (!shot.isDone()) {
                Thread.onSpinWait();
            }
            Thread.interrupted();
            counts.note("threw", hasThrown ? 1 : 0);
            if (!hasThrown) {
                RenewalLoads.release(lock);
            }
            return hasThrown;
        });
        interrupting.shutdown();
        return counts;
    }

    /**
     * Futures of {@code tryLockAsync()}, or of {@code lockAsync()}, cancelled at a random moment, beside a thread that takes and
     * releases another lock all the time. Seen: the future was cancelled, and the lock is still held when its lease is over.
     */
    static Counts cancelled(Load.Setting setting, boolean isTry) throws Exception {
        Counts counts = new Counts();
        inRounds(setting, "cancelled-" + isTry, counts, (lock, moment) -> {
            long endNs = System.nanoTime() + moment;
            Future<?> future = isTry ? lock.tryLockAsync() : lock.lockAsync();
            while (System.nanoTime() < endNs) {
                Thread.onSpinWait();
            }
            boolean isCancelled = future.cancel(true);
            counts.note("cancelled", isCancelled ? 1 : 0);
            if (!isCancelled) {
                future.get(30, TimeUnit.SECONDS);
                RenewalLoads.release(lock);
            }
            return isCancelled;
        });
        return counts;
    }

    /** A call that gives up after so many nanoseconds. Returns whether it left before it had the lock, as it was told. */
    private interface GivingUp {
        boolean call(RLock lock, long afterNs) throws Exception;
    }

    /** Rounds of calls, each round with a client of its own: what is left of one is renewed until its client is shut down. */
    private static void inRounds(Load.Setting setting, String prefix, Counts counts, GivingUp body) throws Exception {
        long endNs = setting.endNs();
        Random random = new Random(1);
        for (int round = 0; round == 0 || System.nanoTime() < endNs; round++) {
            RedissonClient client = setting.connect();
            RLock other = client.getLock(prefix + "-other-" + round);
            CountDownLatch end = new CountDownLatch(1);
            FutureTask<Void> beside = Together.begin("beside", round, number -> {
                while (!end.await(0, TimeUnit.SECONDS)) {
                    other.lock();
                    RenewalLoads.release(other);
                }
            });
            List<String> left = new ArrayList<>();
            long longestNs = 2 * usualAcquireNs(client.getLock(prefix + "-probe-" + round));
            for (int call = 0; call < CALLS; call++) {
                String name = prefix + "-" + round + "-" + call;
                if (body.call(client.getLock(name), (long) (random.nextDouble() * longestNs))) {
                    left.add(name);
                }
            }
            end.countDown();
            beside.get();
            counts.add(CALLS, stillHeld(setting, left));
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    /** The median time of an acquire now. */
    private static long usualAcquireNs(RLock lock) {
        long[] times = new long[PROBES];
        for (int probe = 0; probe < PROBES; probe++) {
            long beginNs = System.nanoTime();
            lock.lock();
            times[probe] = System.nanoTime() - beginNs;
            RenewalLoads.release(lock);
        }
        Arrays.sort(times);
        return times[PROBES / 2];
    }

    /** Whether a call ended because its thread was interrupted. Other failures are thrown. */
    private static boolean isInterrupted(Runnable call) {
        try {
            call.run();
            return false;
        } catch (RuntimeException failure) {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                if (cause instanceof InterruptedException) {
                    return true;
                }
            }
            throw failure;
        }
    }

    /** How many of these locks, which no caller has, are held when the leases that they were granted are over. */
    private static long stillHeld(Load.Setting setting, List<String> locks) throws Exception {
        Thread.sleep(setting.longerThanLeaseMs());
        long held = 0;
        try (RedisLook look = setting.look()) {
            for (String lock : locks) {
                held += look.isTaken(lock) ? 1 : 0;
            }
        }
        return held;
    }

    /**
     * Threads that wait for a lock are interrupted, and then it is released. Attempts: those that were seen to wait before. Seen:
     * the call returned with the lock, and the interrupt flag is clear.
     */
    static Counts interruptedWait(Load.Setting setting, boolean isInterruptible) throws Exception {
        Counts counts = new Counts();
        RedissonClient client = setting.connect();
        Together.run("interrupted-wait", WAITERS, pair -> {
            RLock lock = client.getLock("wait-" + isInterruptible + "-" + pair);
            lock.lock();
            FutureTask<Void> task = new FutureTask<>(() -> {
                String told = "returned";
                try {
                    if (isInterruptible) {
                        lock.lockInterruptibly();
                    } else {
                        lock.lock();
                    }
                } catch (InterruptedException | IllegalStateException left) {
                    told = left.getClass().getSimpleName();
                } catch (RedisException inRequest) {
                    // Its sleep was over, and it asked again when the interrupt came: that is the other defect.
                    counts.note("in_request", 1);
                    return null;
                }
                boolean isSwallowed = told.equals("returned") && !Thread.interrupted();
                counts.add(isSwallowed);
                counts.note("left", told.equals("InterruptedException") ? 1 : 0);
                if (told.equals("returned")) {
                    RenewalLoads.release(lock);
                }
                return null;
            });
            Thread waiter = new Thread(task, "waiter-" + pair);
            waiter.setDaemon(true);
            waiter.start();
            waitUntilItWaits(waiter, lock);
            waiter.interrupt();
            // Until the interrupt was taken, and the thread waits again or has left.
            Thread.sleep(200);
            RenewalLoads.release(lock);
            task.get(60, TimeUnit.SECONDS);
        });
        client.shutdown(0, 2, TimeUnit.SECONDS);
        return counts;
    }

    /** It sleeps until the lease is over or a message comes: in the latch of the lock, and in no request. */
    private static void waitUntilItWaits(Thread waiter, RLock lock) throws InterruptedException {
        long endNs = System.nanoTime() + WITHIN_NS;
        while (Arrays.stream(waiter.getStackTrace()).noneMatch(frame -> frame.getClassName().equals("java.util.concurrent.Semaphore"))) {
            if (System.nanoTime() > endNs) {
                throw new IllegalStateException("nobody waits for " + lock.getName());
            }
            Thread.sleep(5);
        }
    }
}
