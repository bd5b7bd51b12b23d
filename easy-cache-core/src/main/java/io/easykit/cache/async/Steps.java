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

    /** Set while a step runs only to end its call: its context is missing, or its thread was refused. */
    private static final ThreadLocal<@Nullable RejectedExecutionException> REFUSED = new ThreadLocal<>();

    /** End calls whose step was rejected. Otherwise code of the application would run on a thread of the Redis client. */
    private static final Executor AFTER_REJECTION = Futures.reusedThreads("easy-cache-rejected-");

    private final Executor threads;
    private final Runnable onEnd;
    private final Runnable next;
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /**
     * Made on the thread of the caller.
     *
     * @param threads run the steps; may reject them, which ends the call
     * @param context wraps an {@link AwaitedTask} with the context of the calling thread. The task is run several times, and two
     *     runs may overlap
     * @param onEnd runs when the call has ended
     */
    public Steps(Executor threads, UnaryOperator<Runnable> context, Runnable onEnd) {
        this.threads = threads;
        this.onEnd = onEnd;
        this.next = context.apply(AwaitedTask.of(RunningLoad.carry(this::runNext), this::failNext));
    }

    /** Runs a step soon. If there is no thread for it, it runs on another one, to end the call: see {@link #requireContext}. */
    @Override
    public void execute(Runnable step) {
        waiting.add(step);
        try {
            threads.execute(next);
        } catch (RejectedExecutionException stopped) {
            reject(step, stopped);
        } catch (Throwable failure) {
            reject(step, Futures.notStarted(failure));
        }
    }

    private void reject(Runnable step, RejectedExecutionException why) {
        // The task of another step may have run this one. Then that step has no task.
        Runnable left = waiting.remove(step) ? step : waiting.poll();
        if (left == null) {
            return;
        }
        try {
            AFTER_REJECTION.execute(() -> fail(left, why));
        } catch (Throwable noThread) {
            fail(left, why);
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
        Runnable step = waiting.poll();
        if (step != null) {
            fail(step, why);
        }
    }

    private static void fail(Runnable step, RejectedExecutionException why) {
        REFUSED.set(why);
        try {
            step.run();
        } finally {
            REFUSED.remove();
        }
    }

    /**
     * The first call of each step that goes on with the call.
     *
     * @throws RejectedExecutionException if this thread has not the context of the caller, or the step was rejected
     */
    public static void requireContext() {
        RejectedExecutionException why = REFUSED.get();
        if (why != null) {
            REFUSED.remove(); // what waits for the end of this call may run here, and has no context to lose
            throw why;
        }
    }

    /** The call has ended. */
    public void end() {
        onEnd.run();
    }
}
