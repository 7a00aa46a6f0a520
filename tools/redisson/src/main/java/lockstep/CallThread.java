package lockstep;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A thread of an application, which makes one call after the other.
 *
 * <p>Its id is what Redisson stores as the second half of the holder, so it is chosen and not drawn by the JVM.
 */
final class CallThread extends Thread {
    /**
     * So often a call is asked at one instant, two to four times in each attempt, before it counts as one without end: each attempt that
     * sends something waits until that may pass.
     */
    private static final int MOST_ASKED = 10_000;

    private final BlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
    private final long id;
    private volatile boolean isEnding;
    /** When its call was asked last, by the clock of the JVM, and how often at that instant. */
    private long instant;

    private int asked;

    CallThread(String client, long id) {
        super("application-" + client + "-" + id);
        this.id = id;
        setDaemon(true);
    }

    @Override
    public long getId() {
        // The constructor of Thread asks as well, before ours has run.
        return id;
    }

    void begin(Runnable call) {
        calls.add(call);
    }

    /** Ends the thread after the call that it is in, or at the next {@link #attempt} of that call. */
    void end() {
        isEnding = true;
        interrupt();
    }

    /** The call that this thread is in makes an attempt: ends it if the thread is to end, or if its attempts have no end. */
    static void attempt() {
        if (Thread.currentThread() instanceof CallThread caller) {
            caller.countAttempt();
        }
    }

    private void countAttempt() {
        if (isEnding) {
            throw new Ended();
        }
        long now = System.nanoTime();
        asked = now == instant ? asked + 1 : 0;
        instant = now;
        if (asked > MOST_ASKED) {
            throw new Endless();
        }
    }

    @Override
    public void run() {
        while (!isEnding) {
            try {
                calls.take().run();
            } catch (InterruptedException interrupted) {
                // Between two calls nobody hears an interrupt.
            } catch (Ended ended) {
                return;
            }
        }
    }

    /** Thrown in a call that makes one attempt after the other while no time passes: no exception, as {@link Ended}. */
    static final class Endless extends Error {
        private static final long serialVersionUID = 1L;
    }

    /** Thrown in a call whose thread is to end: no exception, since some calls swallow each of those. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1L;
    }
}
