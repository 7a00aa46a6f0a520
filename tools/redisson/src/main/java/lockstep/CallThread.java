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

    /** Ends the thread after the call that it is in, or at the next {@link #endIfAsked} of that call. */
    void end() {
        isEnding = true;
        interrupt();
    }

    /** Ends the call that this thread is in, if the thread is to end. */
    static void endIfAsked() {
        if (Thread.currentThread() instanceof CallThread caller && caller.isEnding) {
            throw new Ended();
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

    /** Thrown in a call whose thread is to end: no exception, since some calls swallow each of those. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1L;
    }
}
