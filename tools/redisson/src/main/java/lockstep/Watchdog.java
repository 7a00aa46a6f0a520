package lockstep;

/**
 * What keeps the locks of a client, and its places in their queues.
 *
 * @param leaseMs the lease that it renews, at a third of it
 * @param batch how many locks one script renews; 0: as many as Redisson does by itself
 * @param queueMs for how long a waiter of a fair lock queues that has no limit; 0: for as long as with Redisson by itself
 */
record Watchdog(long leaseMs, int batch, long queueMs) {
    /** Of {@code LEASE}, {@code LEASE/BATCH} or {@code LEASE/BATCH/QUEUE}. */
    static Watchdog of(String word) {
        String[] parts = word.split("/", 3);
        int batch = parts.length < 2 ? 0 : Integer.parseInt(parts[1]);
        return new Watchdog(Long.parseLong(parts[0]), batch, parts.length < 3 ? 0 : Long.parseLong(parts[2]));
    }
}
