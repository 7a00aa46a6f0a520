package lockstep;

/**
 * What a client is told of its server and its times, all in milliseconds.
 *
 * @param address where its server is: {@code redis://127.0.0.1:7000}
 * @param timeoutMs how long it waits for the reply to a command
 * @param attempts how often it sends a command again
 * @param delayMs how long it waits before it sends a command again
 * @param watchdog what renews its locks
 * @param connections how many connections for commands it opens, all at once
 * @param replicas whether its server has replicas; then it is a master whose place another server can take
 * @param syncWithinMs how long it waits for replicas
 * @param isSyncChecked whether it takes back what no replica has
 * @param isAlone whether its master has no replicas after all, and keeps its place
 * @param messagesFrom the replica on which it subscribes; {@code null}: the master
 * @param announced the address that a cluster or a sentinel tells clients of its server, {@code 127.0.0.1:1}: it is reached at the
 *     other one; {@code null}: nobody is asked
 * @param lookEveryMs how often it looks at the nodes of its cluster; 0: only when it connects
 * @param sentinel the sentinel that it asks for its server; {@code null}: none, so {@code announced} is told by a cluster
 */
record Settings(
        String address,
        int timeoutMs,
        int attempts,
        int delayMs,
        Watchdog watchdog,
        int connections,
        boolean replicas,
        int syncWithinMs,
        boolean isSyncChecked,
        boolean isAlone,
        String messagesFrom,
        String announced,
        int lookEveryMs,
        String sentinel) {
    static Settings of(Words words) {
        Settings single = new Settings(
                words.next(),
                Math.toIntExact(words.nextLong()),
                Math.toIntExact(words.nextLong()),
                Math.toIntExact(words.nextLong()),
                Watchdog.of(words.next()),
                Math.toIntExact(words.nextLong()),
                false,
                0,
                false,
                false,
                null,
                null,
                0,
                null);
        return words.hasNext() ? single.ofMaster(words) : single;
    }

    private Settings ofMaster(Words words) {
        int within = Math.toIntExact(words.nextLong());
        String check = words.next();
        String kind = words.hasNext() ? words.next() : "";
        boolean hasSentinel = kind.equals("sentinel");
        boolean isTold = hasSentinel || kind.equals("cluster");
        String messagesFrom = kind.equals("replica") ? words.next() : null;
        String announced = isTold ? words.next() : null;
        boolean isLooking = kind.equals("cluster") && words.hasNext();
        return new Settings(
                address,
                timeoutMs,
                attempts,
                delayMs,
                watchdog,
                connections,
                true,
                within,
                !check.equals("unchecked"),
                check.equals("alone"),
                messagesFrom,
                announced,
                isLooking ? Math.toIntExact(words.nextLong()) : 0,
                hasSentinel ? words.next() : null);
    }
}
