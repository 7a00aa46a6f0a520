package lockstep;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Threads of an application that do the same thing at the same time. */
final class Together {
    private Together() {}

    /** What each thread does. */
    interface Work {
        void run(int number) throws Exception;
    }

    /** A thread that has begun. */
    static FutureTask<Void> begin(String name, int number, Work work) {
        FutureTask<Void> task = new FutureTask<>(() -> {
            work.run(number);
            return null;
        });
        Thread thread = new Thread(task, name + "-" + number);
        thread.setDaemon(true);
        thread.start();
        return task;
    }

    /** Runs so many threads, and waits until each has ended. The first failure is thrown. */
    static void run(String name, int threads, Work work) throws InterruptedException, ExecutionException {
        List<FutureTask<Void>> tasks = new ArrayList<>();
        for (int number = 0; number < threads; number++) {
            tasks.add(begin(name, number, work));
        }
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
    }
}
