package io.easykit.cache;

import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The load that a thread works for. A value that is computed from other cached values is no fresher than they are, but it
 * is stored as fresh. So a read inside a load gets no stale value.
 *
 * <p>A load is inherited by threads that it creates, and ends with its loader: a pooled thread that keeps it is not in a
 * load. {@link #carry(Runnable)} takes it to pooled threads.
 */
public abstract class RunningLoad {

    private static final ThreadLocal<RunningLoad> CURRENT = new InheritableThreadLocal<>();

    /** Only the cache makes one. */
    protected RunningLoad() {}

    /** This load while it runs, then the one around it; null if that has ended too. */
    protected abstract @Nullable RunningLoad unlessEnded();

    /** The innermost running load that the calling thread works for; null if there is none. */
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

    /** The same task for another thread, where it still belongs to the caller's load. */
    public static Runnable carry(Runnable task) {
        RunningLoad scope = current();
        return scope == null ? task : () -> scope.run(task);
    }

    /** The same task for another thread, where it still belongs to the caller's load. */
    public static <T> Callable<T> carry(Callable<T> task) {
        RunningLoad scope = current();
        return scope == null ? task : () -> scope.call(task);
    }

    private void run(Runnable task) {
        RunningLoad before = CURRENT.get();
        CURRENT.set(this);
        try {
            task.run();
        } finally {
            restore(before);
        }
    }

    private <T> T call(Callable<T> task) throws Exception {
        RunningLoad before = CURRENT.get();
        CURRENT.set(this);
        try {
            return task.call();
        } finally {
            restore(before);
        }
    }

    /** An executor whose tasks belong to the load that hands them over. */
    public static Executor carrying(Executor executor) {
        return task -> executor.execute(carry(task));
    }
}
