package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs the handlers of one container, from its start to its stop. */
interface Workers extends Executor {

    /** Whether it runs no more than the listener's concurrency at a time, and the others in their order. */
    boolean queues();

    /** Nothing is given to it any more; interrupts what runs if the threads are its own. */
    void stop();

    /** Wraps the application's executor. Makes no assumption about threads or ordering. */
    static Workers given(Executor executor) {
        return new Workers() {
            @Override
            public boolean queues() {
                return false;
            }

            @Override
            public void execute(Runnable run) {
                executor.execute(run);
            }

            @Override
            public void stop() {}
        };
    }

    /**
     * A pool of its own, with as many threads as permits. They take runs from a queue: a thread that ends a short run goes on
     * with the next one, where a hand-over would wake another thread for each.
     */
    static Workers pool(ListenerEndpoint endpoint) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                endpoint.concurrency(),
                endpoint.concurrency(),
                30,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                task -> {
                    Thread thread = new Thread(task, endpoint.id() + "-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return new Workers() {
            @Override
            public boolean queues() {
                return true;
            }

            @Override
            public void execute(Runnable run) {
                pool.execute(run);
            }

            @Override
            public void stop() {
                pool.shutdownNow();
            }
        };
    }
}
