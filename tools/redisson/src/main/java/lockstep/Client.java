package lockstep;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.LockOptions;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** One client of Redisson, with the threads of the application that uses it. */
final class Client {
    private static final String FAIR = "fair:";
    private static final String READ = "rw:read:";
    private static final String WRITE = "rw:write:";
    private static final String SPIN = "spin:";
    private static final String FENCED = "fenced:";
    private static final String MULTI = "multi:";
    private static final String VALUES = "values:";
    /** A red lock, which needs most of its masters. */
    private static final String MOST = "most:";
    /** A multi lock on several masters, which needs every one. */
    private static final String EVERY = "every:";

    private final RedissonClient redisson;
    /** The client above, and one for each further master: a lock on several masters has a part on each. */
    private final List<RedissonClient> masters = new ArrayList<>();
    private final Reports reports;
    private final String name;
    private final Map<Long, CallThread> threads = new HashMap<>();
    /**
     * Lock objects, by their names here: {@code LOCK}, or {@code LOCK/ANYTHING} where a lock has several; {@code fair:} before it:
     * a fair lock; {@code rw:read:} or {@code rw:write:}: one of the two locks of a read-write lock; {@code spin:MILLISECONDS:}: a
     * spin lock with that back-off; {@code fenced:}: a fenced lock; {@code multi:LOCK,LOCK}: a multi lock of these, in this order;
     * {@code values:ONE,OTHER:}: these values of a lock over several; {@code most:2,1:}: a red lock on these masters, counted from 1, in this
     * order; {@code every:2,1:}: a multi lock on them.
     */
    private final Map<String, RLock> locks = new HashMap<>();
    /** The one lock of each name on each master, counted from 1: it remembers the lease by which it was granted, whichever object asks. */
    private final Map<String, RLock> locksOfMasters = new HashMap<>();
    /** What the call of each thread waits for, where it is a future. */
    private final Map<Long, Future<?>> awaited = new ConcurrentHashMap<>();

    private Client(String name, RedissonClient redisson, Reports reports) {
        this.name = name;
        this.redisson = redisson;
        this.reports = reports;
        masters.add(redisson);
    }

    static Client connect(String name, Settings settings, Reports reports) throws ReflectiveOperationException {
        RedissonClient redisson = Redisson.create(Versions.config(settings));
        Versions.setIdentity(redisson, name);
        return new Client(name, redisson, reports);
    }

    /** One more client of Redisson, for another master. Its holders have a number beside the name: {@code A.2:1}. */
    void connectBeside(Settings settings) throws ReflectiveOperationException {
        RedissonClient beside = Redisson.create(Versions.config(settings));
        masters.add(beside);
        Versions.setIdentity(beside, identity(masters.size()));
    }

    private String identity(int master) {
        return master == 1 ? name : name + "." + master;
    }

    CallThread thread(long id) {
        return threads.computeIfAbsent(id, number -> {
            CallThread thread = new CallThread(name, number);
            thread.start();
            return thread;
        });
    }

    /**
     * Begins a call on a thread: {@code THREAD VERB LOCK MILLISECONDS…}. Its end is reported as {@code ended NUMBER}, whether
     * the thread is interrupted then, and what it returned or threw, or {@code endless}. {@code flagged} before the verb: the thread is
     * interrupted when the call begins.
     */
    void call(String number, Words words) throws ReflectiveOperationException {
        long threadId = words.nextLong();
        CallThread thread = thread(threadId);
        String word = words.next();
        boolean isFlagged = word.equals("flagged");
        String verb = isFlagged ? words.next() : word;
        String object = words.next();
        RLock lock = locks.get(object);
        if (lock == null) {
            lock = newLock(object);
            locks.put(object, lock);
        }
        Call made = callOf(verb, threadId, lock, words);
        thread.begin(() -> {
            if (isFlagged) {
                Thread.currentThread().interrupt();
            }
            String outcome;
            try {
                outcome = "returned " + made.make();
            } catch (Exception | LinkageError failure) {
                outcome = "threw " + Reports.described(failure);
            } catch (CallThread.Endless endless) {
                outcome = "endless";
            }
            // Read and cleared: the next call begins without it.
            boolean isInterrupted = Thread.interrupted();
            reports.say("ended " + number + " " + (isInterrupted ? "interrupted" : "clear") + " " + outcome);
        });
    }

    private Call callOf(String verb, long threadId, RLock lock, Words words) {
        if (verb.equals("try-async")) {
            return () -> tryAsync(threadId, lock);
        }
        return verb.endsWith("token") ? Tokens.call(verb, lock, words) : Call.of(verb, lock, words);
    }

    private RLock newLock(String object) throws ReflectiveOperationException {
        String lock = object.split("/")[0];
        if (lock.startsWith(READ)) {
            return redisson.getReadWriteLock(lock.substring(READ.length())).readLock();
        }
        if (lock.startsWith(WRITE)) {
            return redisson.getReadWriteLock(lock.substring(WRITE.length())).writeLock();
        }
        if (lock.startsWith(SPIN)) {
            String[] words = lock.split(":", 3);
            return redisson.getSpinLock(words[2], new LockOptions.ConstantBackOff().delay(Long.parseLong(words[1])));
        }
        if (lock.startsWith(FENCED)) {
            return Versions.fencedLock(redisson, lock.substring(FENCED.length()));
        }
        if (lock.startsWith(MULTI)) {
            String[] parts = lock.substring(MULTI.length()).split(",");
            return new EndableMultiLock(Arrays.stream(parts).map(redisson::getLock).toArray(RLock[]::new));
        }
        if (lock.startsWith(MOST)) {
            return new EndableRedLock(locksOfMasters(lock));
        }
        if (lock.startsWith(EVERY)) {
            return new EndableMultiLock(locksOfMasters(lock));
        }
        if (lock.startsWith(VALUES)) {
            String[] words = lock.split(":", 3);
            return Versions.valueLock(redisson, words[2], List.of(words[1].split(",")));
        }
        return lock.startsWith(FAIR) ? redisson.getFairLock(lock.substring(FAIR.length())) : redisson.getLock(lock);
    }

    /** The locks of {@code most:2,1,3:NAME}: one of each of these masters, the same for each object. */
    private RLock[] locksOfMasters(String lock) {
        String[] words = lock.split(":", 3);
        return Arrays.stream(words[1].split(","))
                .map(master -> locksOfMasters.computeIfAbsent(
                        master + ":" + words[2],
                        one -> masters.get(Integer.parseInt(master) - 1).getLock(words[2])))
                .toArray(RLock[]::new);
    }

    /** A call of {@code tryLockAsync()}, whose caller waits until the future is done or cancelled. */
    private Object tryAsync(long threadId, RLock lock) throws Exception {
        Future<Boolean> future = lock.tryLockAsync();
        awaited.put(threadId, future);
        try {
            return future.get();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        } finally {
            awaited.remove(threadId);
        }
    }

    /** Cancels what the call of a thread waits for. */
    void cancel(long threadId) {
        Future<?> future = awaited.get(threadId);
        if (future == null) {
            throw new IllegalArgumentException("thread " + threadId + " waits for no future");
        }
        future.cancel(true);
    }

    void changeMaster(String address) throws ReflectiveOperationException {
        Versions.changeMaster(redisson, address);
    }

    List<Object> timers() throws ReflectiveOperationException {
        List<Object> timers = new ArrayList<>();
        for (RedissonClient master : masters) {
            timers.add(Versions.timer(master));
        }
        return timers;
    }

    void close() throws ReflectiveOperationException {
        threads.values().forEach(CallThread::end);
        for (int master = 1; master <= masters.size(); master++) {
            masters.get(master - 1).shutdown(0, 2, TimeUnit.SECONDS);
            Versions.forget(identity(master));
        }
    }

    /** What an application can ask of a lock. */
    interface Call {
        Object make() throws Exception;

        static Call of(String verb, RLock lock, Words words) {
            switch (verb) {
                case "lock" -> {
                    return () -> {
                        lock.lock();
                        return "nothing";
                    };
                }
                case "lock-lease" -> {
                    long leaseMs = words.nextLong();
                    return () -> {
                        lock.lock(leaseMs, TimeUnit.MILLISECONDS);
                        return "nothing";
                    };
                }
                case "lock-lease-seconds" -> {
                    long leaseSeconds = words.nextLong();
                    long waitMs = words.nextLong();
                    long joined = words.nextLong();
                    return () -> {
                        Draws.steer(leaseSeconds, waitMs, joined);
                        lock.lock(leaseSeconds, TimeUnit.SECONDS);
                        return "nothing";
                    };
                }
                case "lock-interruptibly-lease" -> {
                    long leaseMs = words.nextLong();
                    return () -> {
                        lock.lockInterruptibly(leaseMs, TimeUnit.MILLISECONDS);
                        return "nothing";
                    };
                }
                case "lock-interruptibly" -> {
                    return () -> {
                        lock.lockInterruptibly();
                        return "nothing";
                    };
                }
                case "try" -> {
                    return lock::tryLock;
                }
                case "try-lease" -> {
                    // A wait of 0: one request, with a lease. There is no other method for that.
                    long leaseMs = words.nextLong();
                    return () -> lock.tryLock(0, leaseMs, TimeUnit.MILLISECONDS);
                }
                case "try-wait" -> {
                    long waitMs = words.nextLong();
                    return () -> lock.tryLock(waitMs, TimeUnit.MILLISECONDS);
                }
                case "try-wait-lease" -> {
                    long waitMs = words.nextLong();
                    long leaseMs = words.nextLong();
                    return () -> lock.tryLock(waitMs, leaseMs, TimeUnit.MILLISECONDS);
                }
                case "unlock" -> {
                    return () -> {
                        lock.unlock();
                        return "nothing";
                    };
                }
                case "force-unlock" -> {
                    return lock::forceUnlock;
                }
                case "is-held" -> {
                    return lock::isHeldByCurrentThread;
                }
                case "hold-count" -> {
                    return lock::getHoldCount;
                }
                default -> throw new IllegalArgumentException("unknown call " + verb);
            }
        }
    }
}
