package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.time.LoopExecutor;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Wraps the application's executor. Makes no assumption about threads or ordering. A loop of its own passes the runs on, because
 * an executor may block while it is full: the loops of the shards have to renew leases meanwhile.
 */
final class ExecutorWorkers implements Workers {

    private final Executor executor;
    private final LoopExecutor.Loop loop;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    private record Waiting(Runnable run, Consumer<Throwable> onRefusal) {}

    private ExecutorWorkers(Executor executor, ListenerEndpoint endpoint, LoopExecutor loops) {
        this.executor = executor;
        this.loop = loops.create("delay-queue-workers-" + endpoint.id(), this::passOn);
    }

    /** Creates workers for each container, which take runs at once. */
    static Factory on(Executor executor) {
        return (endpoint, loops) -> {
            ExecutorWorkers created = new ExecutorWorkers(executor, endpoint, loops);
            created.loop.start();
            return created;
        };
    }

    @Override
    public boolean queues() {
        return false;
    }

    @Override
    public void execute(Runnable run, Consumer<Throwable> onRefusal) {
        waiting.add(new Waiting(run, onRefusal));
        loop.wake();
    }

    /** The loop ends when the executor no longer blocks. */
    @Override
    public void stop() {
        stopped = true;
        loop.wake();
    }

    private long passOn() {
        for (Waiting next = waiting.poll(); next != null && !stopped; next = waiting.poll()) {
            passOn(next);
        }
        return stopped ? LoopExecutor.END : LoopExecutor.NEVER;
    }

    private void passOn(Waiting next) {
        try {
            Handover handover = new Handover(next.run);
            executor.execute(handover);
            handover.end();
        } catch (Throwable e) {
            next.onRefusal.accept(e);
        }
    }

    /**
     * Gives a run to the executor. An executor that calls it on the thread of the loop, as {@code CallerRunsPolicy} does, has
     * refused it: all other runs would wait for its end. In virtual time that thread also runs the handlers, but later.
     */
    private static final class Handover implements Runnable {

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
                                + " CallerRunsPolicy. That thread has to pass the others. Use AbortPolicy.");
            }
        }
    }
}
