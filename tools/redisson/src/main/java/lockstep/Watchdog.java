package lockstep;

/**
 * What renews the locks of a client.
 *
 * @param leaseMs the lease that it renews, at a third of it
 * @param batch how many locks one script renews; 0: as many as Redisson does by itself
 */
record Watchdog(long leaseMs, int batch) {
    /** Of {@code LEASE} or {@code LEASE/BATCH}. */
    static Watchdog of(String word) {
        String[] parts = word.split("/", 2);
        return new Watchdog(Long.parseLong(parts[0]), parts.length == 1 ? 0 : Integer.parseInt(parts[1]));
    }
}
