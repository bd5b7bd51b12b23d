package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.time.LoopExecutor;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Wraps the application's executor. Makes no assumption about threads or ordering. A loop of its own passes the runs on, because
 * an executor may block while it is full: the loops of the shards have to renew leases meanwhile.
 *
 * <p><b>Full executors.</b> A run gives its permit back before its thread returns to the executor, which has no callback for
 * that. So an executor with one thread for each permit rejects the next run, and takes it a moment later. A rejected run is
 * offered again for {@link #PATIENCE}, and then refused. Other failures of the executor refuse it at once.
 */
final class ExecutorWorkers implements Workers {

    /** An executor that has rejected all runs for so long is full. */
    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long UNTIL_NEXT_OFFER = TimeUnit.MICROSECONDS.toNanos(500);

    private final Executor executor;
    private final LoopExecutor loops;
    private final LoopExecutor.Loop loop;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

    /** Time of the first rejection, or null. For the loop only. */
    private @Nullable Long rejectsSince;

    private record Waiting(Runnable run, Consumer<Throwable> onRefusal) {}

    private ExecutorWorkers(Executor executor, ListenerEndpoint endpoint, LoopExecutor loops) {
        this.executor = executor;
        this.loops = loops;
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
        for (Waiting next = waiting.peek(); next != null && !stopped; next = waiting.peek()) {
            Throwable failure = offer(next.run);
            if (failure instanceof RejectedExecutionException && mayTakeItSoon()) {
                return UNTIL_NEXT_OFFER;
            }
            waiting.remove();
            if (failure != null) {
                next.onRefusal.accept(failure);
            }
        }
        rejectsSince = null;
        return stopped ? LoopExecutor.END : LoopExecutor.NEVER;
    }

    /** Null if the executor has taken the run. */
    private @Nullable Throwable offer(Runnable run) {
        try {
            Handover handover = new Handover(run);
            executor.execute(handover);
            handover.end();
            rejectsSince = null;
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    private boolean mayTakeItSoon() {
        long now = loops.nanos();
        if (rejectsSince == null) {
            rejectsSince = now;
        }
        return now - rejectsSince < PATIENCE;
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
