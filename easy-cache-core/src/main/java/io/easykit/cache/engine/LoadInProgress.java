package io.easykit.cache.engine;

import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.Loader;
import io.easykit.cache.RunningLoad;
import io.easykit.cache.async.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Marks the threads on which a load runs. A value that is computed from other cached values is no fresher than they are, but
 * it is stored as fresh. So a read inside a load gets no stale value.
 *
 * <h2>The rule</h2>
 *
 * A read inside a load returns no value that is older than the start of that load. It may return
 *
 * <ul>
 *   <li>a value that is alone in its entry: it was current when the store answered;
 *   <li>the result of a load that began, or whose store was accepted, after the innermost running load began;
 * </ul>
 *
 * and nothing else: no value inside its stale window, nothing of the local level, no older shared load.
 *
 * <p>Why this is enough: take an update of an outer and an inner key. If it ended before the outer load began, each value of the
 * inner key that was current after that contains it. If it ends later, it removes the fencing token that the outer load got
 * before it began, and the outer value is not stored.
 *
 * <h2>Exceptions</h2>
 *
 * A read of a key that the current transaction has updated sees uncommitted data. Such a read marks all scopes around it
 * ({@link #markUnstorable}): their values are returned, but neither stored nor shared.
 *
 * <h2>Other threads</h2>
 *
 * A scope is inherited by threads that a load creates, and ends with its load: a pooled thread that keeps it is not in a
 * load. {@link #carry(Runnable)} takes it to pooled threads. A parallel stream or a {@code CompletableFuture} cannot carry
 * anything: on threads of a fork-join pool, and for tasks that these hand over by {@link #carry(Runnable)}, every read is strict
 * while any load runs in this JVM.
 */
final class LoadInProgress extends RunningLoad {

    /** Loads that run in this JVM now. */
    private static final AtomicInteger RUNNING = new AtomicInteger();

    private final @Nullable LoadInProgress outer;
    private final long startedAt;
    private volatile boolean unstorable;
    private volatile boolean ended;

    /** Who runs the loader: a thread, or a call that has none while it waits. Null when the load has ended. */
    private volatile @Nullable Object owner;

    private LoadInProgress(@Nullable LoadInProgress outer, long startedAt, Object owner) {
        this.outer = outer;
        this.startedAt = startedAt;
        this.owner = owner;
    }

    /**
     * Runs a loader in a scope of its own, inside the scope of the calling thread.
     *
     * @param startedAt now, in nanoseconds of the ticker
     */
    static <V> LoadResult<V> load(Loader<V, ?> loader, long startedAt) {
        RunningLoad before = current();
        LoadInProgress scope = begin(startedAt, Thread.currentThread());
        restore(scope);
        try {
            return scope.loaded(loader.load());
        } catch (Throwable failure) {
            return scope.failed(failure);
        } finally {
            scope.end();
            restore(before);
        }
    }

    /**
     * Begins a load in a scope of its own, inside the scope of the calling thread. The scope ends with the value, and the thread
     * leaves it when the loader has returned its stage.
     *
     * @param startedAt now, in nanoseconds of the ticker
     * @param owner runs the load
     * @return ends on the thread that has ended the stage
     */
    static <V> CompletableFuture<LoadResult<V>> loadLater(Loader.Later<V> loader, long startedAt, Object owner) {
        RunningLoad before = current();
        LoadInProgress scope = begin(startedAt, owner);
        restore(scope);
        CompletableFuture<? extends @Nullable V> value;
        try {
            value = Futures.of(loader.begin());
        } catch (Throwable failure) {
            value = CompletableFuture.failedFuture(failure);
        } finally {
            restore(before);
        }
        return value.handle((loaded, failure) -> {
            LoadResult<V> result = failure == null ? scope.loaded(loaded) : scope.failed(Futures.unwrapped(failure));
            scope.end();
            return result;
        });
    }

    private static LoadInProgress begin(long startedAt, Object owner) {
        RUNNING.incrementAndGet();
        return new LoadInProgress(innermost(), startedAt, owner);
    }

    private void end() {
        ended = true;
        owner = null;
        RUNNING.decrementAndGet();
    }

    private <V> LoadResult<V> loaded(@Nullable V value) {
        return unstorable ? new LoadResult.UnsharableValue<>(value) : new LoadResult.Loaded<>(value, startedAt);
    }

    private <V> LoadResult<V> failed(Throwable failure) {
        boolean secret = unstorable || failure instanceof LoadAbandonedException;
        return secret ? new LoadResult.UnsharableFailure<>(failure) : new LoadResult.Failed<>(failure, startedAt);
    }

    /** Runs work that no load waits for, although its thread may have inherited the scope of one. */
    static void outside(Runnable work) {
        RunningLoad before = current();
        restore(null);
        try {
            work.run();
        } finally {
            restore(before);
        }
    }

    /** Keeps the values of all loads around the caller from being stored and shared. */
    static void markUnstorable() {
        LoadInProgress scope = innermost();
        if (scope != null) {
            scope.keepToCaller();
        }
    }

    @Override
    public void keepToCaller() {
        for (LoadInProgress scope = this; scope != null; scope = scope.outer) {
            scope.unstorable = true;
        }
    }

    /** Whether the value that the calling thread loads may be stored. */
    static boolean isStorable() {
        LoadInProgress scope = innermost();
        return scope == null || !scope.unstorable;
    }

    /** When the load began, in nanoseconds of the ticker. */
    long startedAt() {
        return startedAt;
    }

    /** Whether the calling thread may work for a load of another thread without carrying its scope. */
    static boolean mayHelpAnotherThread() {
        return isOfForkJoinPool() && RUNNING.get() > 0;
    }

    /** Whether the calling thread works for a load, or may do so. */
    static boolean mayBeInside() {
        return current() != null || mayHelpAnotherThread();
    }

    /** The innermost running load that the calling thread works for; null if there is none. */
    static @Nullable LoadInProgress innermost() {
        return (LoadInProgress) current();
    }

    /** Whether the calling thread works for a load of this owner, which may wait for it. */
    static boolean isFor(Object owner) {
        for (LoadInProgress scope = innermost(); scope != null; scope = scope.outer) {
            if (scope.owner == owner) {
                return true;
            }
        }
        return false;
    }

    /** How many running loads the calling thread works for, one inside the other. */
    static int depth() {
        int depth = 0;
        for (LoadInProgress scope = innermost(); scope != null; scope = scope.outer) {
            depth += scope.ended ? 0 : 1;
        }
        return depth;
    }

    @Override
    protected @Nullable LoadInProgress unlessEnded() {
        LoadInProgress scope = this;
        while (scope != null && scope.ended) {
            scope = scope.outer;
        }
        return scope;
    }
}
