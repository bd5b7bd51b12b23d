package io.easykit.cache.async;

import io.easykit.cache.RunningLoad;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.UnaryOperator;

/**
 * The steps of one call, each on some thread of the cache, which belongs to the load and has the context of the caller. Between two
 * steps the call has no thread.
 */
public final class Steps implements Executor {

    private final Executor threads;
    private final Runnable onEnd;
    private final Runnable next;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /**
     * Made on the thread of the caller.
     *
     * @param threads run the steps; may reject them
     * @param context wraps a task with the context of the calling thread. The task is run several times, and two runs may overlap
     * @param onEnd runs when the call has ended
     */
    public Steps(Executor threads, UnaryOperator<Runnable> context, Runnable onEnd) {
        this.threads = threads;
        this.onEnd = onEnd;
        this.next = context.apply(RunningLoad.carry(this::runNext));
    }

    /**
     * Runs a step soon.
     *
     * @throws RejectedExecutionException if there is no thread for it
     */
    @Override
    public void execute(Runnable step) {
        waiting.add(step);
        try {
            threads.execute(next);
        } catch (RejectedExecutionException stopped) {
            waiting.remove(step);
            throw stopped;
        } catch (Throwable failure) {
            waiting.remove(step);
            throw Futures.notStarted(failure);
        }
    }

    private void runNext() {
        Runnable step = waiting.poll();
        if (step != null) {
            step.run();
        }
    }

    /** The call has ended. */
    public void end() {
        onEnd.run();
    }
}
