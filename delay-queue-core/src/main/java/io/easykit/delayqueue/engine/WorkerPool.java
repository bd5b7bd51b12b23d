package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.time.DetachedThread;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A pool of threads. They take runs from a queue: a thread that ends a short run goes on with the next one, where a hand-over
 * would wake another thread for each. If the system starts no more threads, a run goes to one that is idle, or is refused: other
 * nodes may have threads.
 */
final class WorkerPool implements Workers {

    /** A pool for each container, with as many threads as permits. */
    static final Factory FOR_EACH =
            (endpoint, loops) -> new WorkerPool(endpoint.concurrency(), new NamedThreads(endpoint.id()));

    private static final long IDLE_SECONDS = 30;

    private final ThreadPoolExecutor pool;

    /** Number of runs that have not ended. */
    private final AtomicInteger open = new AtomicInteger();

    WorkerPool(int most, ThreadFactory threads) {
        this(most, threads, new LinkedBlockingQueue<>());
    }

    /** @param waiting takes runs for which there is no thread yet */
    WorkerPool(int most, ThreadFactory threads, BlockingQueue<Runnable> waiting) {
        this.pool = new ThreadPoolExecutor(
                most,
                most,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                waiting,
                task -> threads.newThread(() -> runUntilItsEnd(task)));
        pool.allowCoreThreadTimeOut(true);
    }

    @Override
    public boolean queues() {
        return true;
    }

    @Override
    public void execute(Runnable run, Consumer<Throwable> onRefusal) {
        QueuedRun queued = new QueuedRun(run, onRefusal);
        try {
            pool.execute(queued);
        } catch (OutOfMemoryError noThread) {
            // Until it is full, the pool makes a thread for each run, although others are idle.
            if (open.get() > pool.getPoolSize()) {
                queued.refuse(noThread);
            } else {
                pool.getQueue().add(queued);
                refuseWithoutThreads(noThread);
            }
        } catch (Throwable e) {
            queued.refuse(e);
        }
    }

    /** A thread that ends while runs wait starts another one, which may fail. */
    private void runUntilItsEnd(Runnable task) {
        try {
            task.run();
        } catch (OutOfMemoryError noThread) {
            refuseWithoutThreads(noThread);
            throw noThread;
        }
    }

    /** Also those that were queued for a thread that ended at that moment. */
    private void refuseWithoutThreads(Throwable reason) {
        for (Runnable waiting : pool.getQueue()) {
            if (pool.getPoolSize() == 0 && pool.remove(waiting) && waiting instanceof QueuedRun queued) {
                queued.refuse(reason);
            }
        }
    }

    @Override
    public void stop() {
        pool.shutdownNow();
    }

    /** Runs once or is refused once, also if the pool has queued it when it reports that it could not start a thread. */
    private final class QueuedRun implements Runnable {

        private final AtomicBoolean begun = new AtomicBoolean();
        private final Runnable work;
        private final Consumer<Throwable> onRefusal;

        QueuedRun(Runnable work, Consumer<Throwable> onRefusal) {
            this.work = work;
            this.onRefusal = onRefusal;
            open.incrementAndGet();
        }

        @Override
        public void run() {
            if (begun.compareAndSet(false, true)) {
                try {
                    work.run();
                } finally {
                    open.decrementAndGet();
                }
            }
        }

        void refuse(Throwable reason) {
            if (begun.compareAndSet(false, true)) {
                open.decrementAndGet();
                onRefusal.accept(reason);
            }
        }
    }

    private static final class NamedThreads implements ThreadFactory {

        private final AtomicInteger number = new AtomicInteger();
        private final String listener;

        NamedThreads(String listener) {
            this.listener = listener;
        }

        @Override
        public Thread newThread(Runnable task) {
            // Without the InheritableThreadLocals of the thread that starts the listener: handlers would get them.
            return DetachedThread.of(listener + "-" + number.incrementAndGet(), task);
        }
    }
}
