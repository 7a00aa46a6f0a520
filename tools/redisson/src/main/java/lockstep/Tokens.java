package lockstep;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;

/** The calls of a fenced lock that return a token: null where the lock was not granted. They are found by name, since 3.15 has none. */
final class Tokens {
    private static final Class<?>[] NO_TIME = {};
    private static final Class<?>[] ONE_TIME = {long.class, TimeUnit.class};
    private static final Class<?>[] TWO_TIMES = {long.class, long.class, TimeUnit.class};

    private Tokens() {}

    static Client.Call call(String verb, RLock lock, Words words) {
        switch (verb) {
            case "lock-token" -> {
                return () -> invoke(lock, "lockAndGetToken", NO_TIME);
            }
            case "lock-lease-token" -> {
                long leaseMs = words.nextLong();
                return () -> invoke(lock, "lockAndGetToken", ONE_TIME, leaseMs, TimeUnit.MILLISECONDS);
            }
            case "try-token" -> {
                return () -> invoke(lock, "tryLockAndGetToken", NO_TIME);
            }
            case "try-wait-token" -> {
                long waitMs = words.nextLong();
                return () -> invoke(lock, "tryLockAndGetToken", ONE_TIME, waitMs, TimeUnit.MILLISECONDS);
            }
            case "try-wait-lease-token" -> {
                long waitMs = words.nextLong();
                long leaseMs = words.nextLong();
                return () -> invoke(lock, "tryLockAndGetToken", TWO_TIMES, waitMs, leaseMs, TimeUnit.MILLISECONDS);
            }
            case "get-token" -> {
                return () -> invoke(lock, "getToken", NO_TIME);
            }
            default -> throw new IllegalArgumentException("unknown call " + verb);
        }
    }

    private static Object invoke(RLock lock, String method, Class<?>[] types, Object... values) throws Exception {
        try {
            return Class.forName("org.redisson.api.RFencedLock").getMethod(method, types).invoke(lock, values);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause() instanceof Exception cause ? cause : thrown;
        }
    }
}
