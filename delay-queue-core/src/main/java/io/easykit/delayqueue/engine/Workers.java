package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
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
                Handover handover = new Handover(run);
                executor.execute(handover);
                handover.end();
            }

            @Override
            public void stop() {}
        };
    }

    /**
     * Gives a run to an executor of the application. An executor that calls it on the thread of the loop, as
     * {@code CallerRunsPolicy} does, has refused it: this thread renews the leases, and stops the runs. In virtual time that
     * thread also runs the handlers, but later.
     */
    final class Handover implements Runnable {

        private final Runnable run;
        private final Thread loop = Thread.currentThread();

        // For the thread of the loop only.
        private boolean hasEnded;
        private boolean isRefused;

        private Handover(Runnable run) {
            this.run = run;
        }

        @Override
        public void run() {
            if (Thread.currentThread() == loop && !hasEnded) {
                isRefused = true;
            } else {
                run.run();
            }
        }

        private void end() {
            hasEnded = true;
            if (isRefused) {
                throw new RejectedExecutionException(
                        "The executor runs tasks on the thread that passes them, such as by"
                                + " CallerRunsPolicy. That thread has to renew leases. Use AbortPolicy.");
            }
        }
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
