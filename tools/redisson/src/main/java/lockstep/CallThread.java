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
     * Ends the thread inside its call. A caller that takes several locks as one swallows every exception, also an interrupt and that of a
     * client that was shut down, and begins anew for ever; it does not catch an error.
     */
    @SuppressWarnings({"deprecation", "removal"})
    void endInCall() {
        isEnding = true;
        stop();
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
