package lockstep;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/** Loads beside a replica that comes later than the client. */
final class ReplicaLoads {
    private static final int ACQUIRES = 100;
    private static final long WITHIN_NS = 30_000_000_000L;

    private ReplicaLoads() {}

    /**
     * A client takes its first lock while its master has no replica; the master grants it, or refuses it because it needs one
     * to write. Then the replica comes. Seen: a later acquire of that client behind which the master was sent no {@code WAIT}.
     * A client that is started later does the same.
     */
    static Counts lateReplica(Load.Setting setting, boolean isRefused) throws Exception {
        if (setting.replica() == null) {
            throw new IllegalArgumentException("this load needs a REPLICA");
        }
        Counts counts = new Counts();
        try (RedisLook master = setting.look();
                RedisLook replica = new RedisLook(setting.replica())) {
            if (isRefused) {
                master.ask("CONFIG", "SET", "min-replicas-to-write", "1");
            }
            RedissonClient early = setting.connectToMaster();
            RLock first = early.getLock("late-replica");
            try {
                first.lock();
                // Up to 3.15 lock() returns although the master has refused.
                boolean isHeld = master.isHeld(first.getName(), RenewalLoads.holder(early));
                counts.note(isHeld ? "first_granted" : "first_believed", 1);
                RenewalLoads.release(first);
            } catch (RedisException refused) {
                counts.note("first_refused", 1);
            }
            replica.ask(
                    "REPLICAOF", RedisLook.host(setting.server()), String.valueOf(RedisLook.port(setting.server())));
            long endNs = System.nanoTime() + WITHIN_NS;
            while (!(replica.says("replication", "master_link_status:up")
                    && master.says("replication", "state=online")
                    && (!isRefused || master.says("replication", "min_slaves_good_slaves:1")))) {
                if (System.nanoTime() > endNs) {
                    throw new IllegalStateException("the replica has not come within 30 s");
                }
                Thread.sleep(10);
            }
            counts.add(ACQUIRES, withoutWait(early, master));
            early.shutdown(0, 2, TimeUnit.SECONDS);
            RedissonClient later = setting.connectToMaster();
            counts.note("later_client", withoutWait(later, master));
            later.shutdown(0, 2, TimeUnit.SECONDS);
        }
        return counts;
    }

    /** How many acquires are granted and believed although no {@code WAIT} was sent. */
    private static long withoutWait(RedissonClient client, RedisLook master) throws Exception {
        RLock lock = client.getLock("late-replica");
        long without = 0;
        for (int acquire = 0; acquire < ACQUIRES; acquire++) {
            long before = master.executed("wait");
            lock.lock();
            without += master.executed("wait") == before ? 1 : 0;
            lock.unlock();
        }
        return without;
    }
}
