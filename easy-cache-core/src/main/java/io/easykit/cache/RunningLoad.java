package io.easykit.cache;

import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinWorkerThread;
import org.jspecify.annotations.Nullable;

/**
 * The running load to which a thread belongs. A value that is computed from other cached values is no fresher than they are, but it
 * is stored as fresh. So a read inside a load gets no stale value.
 *
 * <p>A load is inherited by threads that it creates, and ends with its loader: a pooled thread that keeps it is not in a
 * load. {@link #carry(Runnable)} takes it to pooled threads.
 */
public abstract class RunningLoad {

    private static final ThreadLocal<RunningLoad> CURRENT = new InheritableThreadLocal<>();

    /** Set while a thread runs a task that a thread of a fork-join pool has handed over. */
    private static final ThreadLocal<Boolean> FORK_JOIN_TASK = new ThreadLocal<>();

    /** For the cache only. */
    protected RunningLoad() {}

    /** This load while it runs, then the one around it; null if that has ended too. */
    protected abstract @Nullable RunningLoad unlessEnded();

    /**
     * Keeps the values of this load and of those around it from being stored, and from other readers. For a loader that has
     * found out, before it returns, that its value may belong to another key.
     */
    public abstract void keepToCaller();

    /** The innermost running load to which the calling thread belongs; null if there is none. */
    public static @Nullable RunningLoad current() {
        RunningLoad scope = CURRENT.get();
        return scope == null ? null : scope.unlessEnded();
    }

    /** Sets what {@link #current()} has returned, on this thread or another one. */
    public static void restore(@Nullable RunningLoad scope) {
        if (scope == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(scope);
        }
    }

    /** Whether the calling thread, or the one that it runs a task for, is of a fork-join pool: those may work for any load. */
    protected static boolean isOfForkJoinPool() {
        return Thread.currentThread() instanceof ForkJoinWorkerThread || FORK_JOIN_TASK.get() != null;
    }

    /** Wraps a task so that it belongs to the caller's load on any thread. */
    public static Runnable carry(Runnable task) {
        Origin origin = new Origin(current(), isOfForkJoinPool());
        return origin.isOutside()
                ? task
                : () -> {
                    Origin before = origin.enter();
                    try {
                        task.run();
                    } finally {
                        before.returnTo();
                    }
                };
    }

    /** Wraps a task so that it belongs to the caller's load on any thread. */
    public static <T> Callable<T> carry(Callable<T> task) {
        Origin origin = new Origin(current(), isOfForkJoinPool());
        return origin.isOutside()
                ? task
                : () -> {
                    Origin before = origin.enter();
                    try {
                        return task.call();
                    } finally {
                        before.returnTo();
                    }
                };
    }

    /** Wraps an executor so that each task belongs to the load of the thread that submits it. */
    public static Executor carrying(Executor executor) {
        return task -> executor.execute(carry(task));
    }

    /** What a thread knows of the loads that it works for. */
    private record Origin(@Nullable RunningLoad scope, boolean ofForkJoinPool) {

        boolean isOutside() {
            return scope == null && !ofForkJoinPool;
        }

        /** Returns the origin that the thread had before. */
        Origin enter() {
            Origin before = new Origin(CURRENT.get(), FORK_JOIN_TASK.get() != null);
            if (scope != null) {
                CURRENT.set(scope);
            }
            if (ofForkJoinPool) {
                FORK_JOIN_TASK.set(true);
            }
            return before;
        }

        void returnTo() {
            restore(scope);
            if (!ofForkJoinPool) {
                FORK_JOIN_TASK.remove();
            }
        }
    }
}
