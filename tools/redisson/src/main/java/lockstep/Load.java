package lockstep;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.redisson.api.RedissonClient;

/**
 * How often a defect of Redisson happens without a gate: real clients under the clocks of the machine use a real server as
 * applications do, and what became of their locks is looked at by a connection of its own.
 *
 * <p>Each load that the command line names runs at the same time and prints one line of JSON. The loads are listed in
 * tools/redisson/README.md; tests/redisson/load.rs runs them.
 */
final class Load {
    private static final String USAGE = """
            usage: lockstep.Load WATCHDOG_MS SECONDS SERVER REPLICA LOAD…
              WATCHDOG_MS  lockWatchdogTimeout of every client, 300 or more
              SECONDS      how long loads that depend on chance begin anew, 1 or more; the others run once
              SERVER       HOST:PORT of a server that nobody else uses
              REPLICA      HOST:PORT of a second one, which a load may make a replica of the first; none: there is none
              LOAD         one of\s""";
    private static final int BAD_USAGE = 2;
    private static final int FAILED = 1;

    private static final Map<String, Body> LOADS = new LinkedHashMap<>();

    static {
        LOADS.put("quick-holds", setting -> RenewalLoads.quickHolds(setting, false));
        LOADS.put("quick-holds-with-lease", setting -> RenewalLoads.quickHolds(setting, true));
        LOADS.put("renewal-rate", setting -> RenewalLoads.renewalRate(setting, false));
        LOADS.put("renewal-rate-after-rest", setting -> RenewalLoads.renewalRate(setting, true));
        LOADS.put("overwritten-key", setting -> RenewalLoads.overwrittenKey(setting, true));
        LOADS.put("no-overwritten-key", setting -> RenewalLoads.overwrittenKey(setting, false));
        LOADS.put("flag-set", setting -> InterruptLoads.flagSet(setting, true));
        LOADS.put("no-flag-set", setting -> InterruptLoads.flagSet(setting, false));
        LOADS.put("interrupted-acquire", InterruptLoads::interruptedAcquire);
        LOADS.put("cancelled-try", setting -> InterruptLoads.cancelled(setting, true));
        LOADS.put("cancelled-lock", setting -> InterruptLoads.cancelled(setting, false));
        LOADS.put("interrupted-wait", setting -> InterruptLoads.interruptedWait(setting, false));
        LOADS.put("interruptible-wait", setting -> InterruptLoads.interruptedWait(setting, true));
        LOADS.put("shared-object-late", setting -> ThreadLoads.sharedObject(setting, true));
        LOADS.put("shared-object-in-time", setting -> ThreadLoads.sharedObject(setting, false));
        LOADS.put("refused-spin", setting -> ThreadLoads.refusedCall(setting, true));
        LOADS.put("refused-lock", setting -> ThreadLoads.refusedCall(setting, false));
        LOADS.put("nested-holds", ThreadLoads::nestedHolds);
        LOADS.put("deleted-key", setting -> ThreadLoads.deletedKey(setting, 3));
        LOADS.put("late-replica", setting -> ReplicaLoads.lateReplica(setting, false));
        LOADS.put("late-replica-refused", setting -> ReplicaLoads.lateReplica(setting, true));
    }

    private Load() {}

    /** What a load does. It waits for no condition without a deadline. */
    private interface Body {
        Counts run(Setting setting) throws Exception;
    }

    /**
     * What the loads run on.
     *
     * @param server a server's {@code HOST:PORT}
     * @param replica the {@code HOST:PORT} of one that may become its replica; {@code null}: there is none
     * @param watchdogMs the lease that the watchdog renews, at a third of it
     * @param seconds how long a load that depends on chance begins anew
     */
    record Setting(String server, String replica, long watchdogMs, long seconds) {
        /** A hold of this length ends only after its lease, unless somebody renewed it. */
        long longerThanLeaseMs() {
            return watchdogMs * 5 / 4;
        }

        /** When a load that begins now begins its last round, by {@code System.nanoTime()}. */
        long endNs() {
            return System.nanoTime() + seconds * 1_000_000_000L;
        }

        RedissonClient connect() {
            return Versions.plainClient(server, watchdogMs);
        }

        RedissonClient connectToMaster() {
            return Versions.plainClientOfMaster(server, replica);
        }

        RedisLook look() throws IOException {
            return new RedisLook(server);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Setting setting;
        List<String> loads = new ArrayList<>();
        try {
            Words words = new Words(args);
            long watchdogMs = atLeast(300, "WATCHDOG_MS", words.nextLong());
            long seconds = atLeast(1, "SECONDS", words.nextLong());
            String server = words.next();
            String replica = words.next();
            setting = new Setting(server, replica.equals("none") ? null : replica, watchdogMs, seconds);
            do {
                String name = words.next();
                if (!LOADS.containsKey(name)) {
                    throw new IllegalArgumentException("there is no load " + name);
                }
                loads.add(name);
            } while (words.hasNext());
        } catch (IllegalArgumentException wrong) {
            System.err.println(wrong.getMessage() + "\n" + USAGE + String.join(", ", LOADS.keySet()));
            System.exit(BAD_USAGE);
            return;
        }
        int failed = runAll(setting, loads);
        // Threads of clients must not keep the process.
        Runtime.getRuntime().halt(failed == 0 ? 0 : FAILED);
    }

    private static long atLeast(long least, String name, long value) {
        if (value < least) {
            throw new IllegalArgumentException(name + " is " + value + ", and must be " + least + " or more");
        }
        return value;
    }

    private static int runAll(Setting setting, List<String> names) throws InterruptedException {
        Reports reports = new Reports(new PrintStream(System.out, true, StandardCharsets.UTF_8));
        List<String> failed = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (String name : names) {
            Thread thread = new Thread(
                    () -> {
                        try {
                            reports.say(LOADS.get(name).run(setting).toJson(name, Versions.redisson()));
                        } catch (Throwable failure) {
                            synchronized (failed) {
                                failed.add(name);
                            }
                            System.err.println(name + " failed:");
                            failure.printStackTrace();
                        }
                    },
                    name);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        return failed.size();
    }
}
