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
     * Ends the thread also inside its call, or just before it. A caller that takes several locks as one swallows every exception, also an
     * interrupt and that of a client that was shut down, and begins anew for ever; it does not catch an error. It is not interrupted: with
     * that flag set it would ask again and again without a wait, until the memory of this process is full of requests. Where the error
     * meets code that catches everything, it is thrown once more. No clock is asked: those of this process may stand still.
     */
    @SuppressWarnings({"deprecation", "removal"})
    void endInCall() {
        isEnding = true;
        setUncaughtExceptionHandler((thread, error) -> {
            // It is thrown wherever the thread is, also where it then has no lock to release.
        });
        for (int round = 0; isAlive() && round < MOST_ERRORS; round++) {
            stop();
            for (int spin = 0; isAlive() && spin < SPINS; spin++) {
                Thread.yield();
            }
        }
        if (isAlive()) {
            throw new IllegalStateException("its thread " + id + " has caught " + MOST_ERRORS + " errors and goes on");
        }
    }

    @Override
    public void run() {
        while (!isEnding) {
            try {
                calls.take().run();
            } catch (InterruptedException interrupted) {
                // Between two calls nobody hears an interrupt.
            }
        }
    }
}
