package lockstep;

import java.lang.reflect.Field;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;

/**
 * When the next timer of Redisson fires. Netty's wheel turns every tenth of a second whether or not there is one, so nobody can
 * tell from outside.
 */
final class Timers {
    /** No two of these classes have a field of one name. */
    private static final Map<String, Field> FIELDS = new HashMap<>();

    private Timers() {}

    /** The moment by {@code System.nanoTime()}; {@code none}; or {@code soon}, where one is not on the wheel yet. */
    static String nextOf(Collection<Client> clients) throws ReflectiveOperationException {
        long next = Long.MAX_VALUE;
        for (Client client : clients) {
            for (Object timer : client.timers()) {
                if (!((Queue<?>) value(timer, "timeouts")).isEmpty()) {
                    return "soon";
                }
                next = Math.min(next, nextOf(timer));
            }
        }
        return next == Long.MAX_VALUE ? "none" : Long.toString(next);
    }

    private static long nextOf(Object timer) throws ReflectiveOperationException {
        long next = Long.MAX_VALUE;
        long start = (long) value(timer, "startTime");
        long turn = (long) value(timer, "tickDuration");
        for (Object bucket : (Object[]) value(timer, "wheel")) {
            for (Object timeout = value(bucket, "head"); timeout != null; timeout = value(timeout, "next")) {
                long deadline = (long) value(timeout, "deadline");
                // It fires at the end of the turn in which its deadline is.
                next = Math.min(next, start + (deadline / turn + 1) * turn);
            }
        }
        return next;
    }

    private static Object value(Object owner, String name) throws ReflectiveOperationException {
        Field known = FIELDS.get(name);
        if (known == null || known.getDeclaringClass() != owner.getClass()) {
            known = Versions.field(owner.getClass(), name);
            FIELDS.put(name, known);
        }
        return known.get(owner);
    }
}
