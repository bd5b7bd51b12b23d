package io.easykit.cache.async;

import io.easykit.cache.RunningLoad;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The steps of one call, each on some thread of the cache, which belongs to the load and has the context of the caller. Between two
 * steps the call has no thread.
 */
public final class Steps implements Executor {

    /** Set while a step runs whose context is missing. */
    private static final ThreadLocal<@Nullable RejectedExecutionException> WITHOUT_CONTEXT = new ThreadLocal<>();

    private final Executor threads;
    private final Runnable onEnd;
    private final Runnable next;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /**
     * Made on the thread of the caller.
     *
     * @param threads run the steps; may reject them
     * @param context wraps an {@link AwaitedTask} with the context of the calling thread. The task is run several times, and two
     *     runs may overlap
     * @param onEnd runs when the call has ended
     */
    public Steps(Executor threads, UnaryOperator<Runnable> context, Runnable onEnd) {
        this.threads = threads;
        this.onEnd = onEnd;
        this.next = context.apply(AwaitedTask.of(RunningLoad.carry(this::runNext), this::failNext));
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

    /** The step runs, to end the call: see {@link #requireContext}. */
    private void failNext(RejectedExecutionException why) {
        WITHOUT_CONTEXT.set(why);
        try {
            runNext();
        } finally {
            WITHOUT_CONTEXT.remove();
        }
    }

    /**
     * The first call of each step that goes on with the call.
     *
     * @throws RejectedExecutionException if this thread has not the context of the caller
     */
    public static void requireContext() {
        RejectedExecutionException why = WITHOUT_CONTEXT.get();
        if (why != null) {
            WITHOUT_CONTEXT.remove(); // what waits for the end of this call may run here, and has no context to lose
            throw why;
        }
    }

    /** The call has ended. */
    public void end() {
        onEnd.run();
    }
}
