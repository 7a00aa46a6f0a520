package lockstep;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A thread of an application, which makes one call after the other.
 *
 * <p>Its id is what Redisson stores as the second half of the holder, so it is chosen and not drawn by the JVM.
 */
final class CallThread extends Thread {
    private final BlockingQueue<Runnable> calls = new LinkedBlockingQueue<>();
    private final long id;
    private static final int MOST_ERRORS = 1_000;
    private static final int SPINS = 20_000;

    private volatile boolean isEnding;
    /** Whether it is inside a call. */
    private volatile boolean isCalling;

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

    /** Ends the thread after the call that it is in. */
    void end() {
        isEnding = true;
        interrupt();
    }

    /**
     * Ends the thread also inside its call. A caller that takes several locks as one swallows every exception, also an interrupt and that
     * of a client that was shut down, and begins anew for ever; it does not catch an error. Where that meets code that catches everything,
     * it is thrown once more. No clock is asked: those of this process may stand still.
     */
    @SuppressWarnings({"deprecation", "removal"})
    void endInCall() {
        end();
        for (int round = 0; isCalling && isAlive() && round < MOST_ERRORS; round++) {
            stop();
            for (int spin = 0; isCalling && isAlive() && spin < SPINS; spin++) {
                Thread.yield();
            }
        }
    }

    @Override
    public void run() {
        while (!isEnding) {
            try {
                Runnable call = calls.take();
                isCalling = true;
                try {
                    call.run();
                } finally {
                    isCalling = false;
                }
            } catch (InterruptedException interrupted) {
                // Between two calls nobody hears an interrupt.
            }
        }
    }
}
