package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A load of one key that runs in this JVM: its owner, and the result for the readers that wait. */
final class InFlightLoad<V> {

    /** How long a reader whose waiting time is over still waits for the load of another such reader. */
    static final Duration GRACE = Duration.ofMillis(500);

    private final Type type;
    private final Object owner;
    private final long startedAt = System.nanoTime();
    private final CompletableFuture<LoadResult<V>> result = new CompletableFuture<>();
    private final AtomicBoolean foundStuck = new AtomicBoolean();

    /** The calling thread runs it. */
    InFlightLoad(CacheKey<V> key) {
        this(key, Thread.currentThread());
    }

    /** @param owner runs it: a thread, or a call that has none while it waits */
    InFlightLoad(CacheKey<V> key, Object owner) {
        this.type = key.spec().type();
        this.owner = owner;
    }

    /** Whether its value is of the type of a key: two caches of one prefix may have different ones. */
    boolean isOfTypeOf(CacheKey<?> key) {
        return type.equals(key.spec().type());
    }

    /** Whether the calling thread runs it, or works for it: a loader that reads its own key must not wait for itself. */
    boolean isOwnedByCallingThread() {
        return owner == Thread.currentThread() || LoadInProgress.isFor(owner);
    }

    /**
     * Whether it takes so long that new readers must not wait for it. Real time, as for all waiting readers.
     *
     * @param waiting how long they would wait
     */
    boolean isStuck(Duration waiting) {
        Duration longest = waiting.compareTo(GRACE) < 0 ? GRACE : waiting;
        return System.nanoTime() - startedAt > longest.toNanos();
    }

    /** Records that a reader has found it stuck. True for the first one. */
    boolean isFoundStuckNow() {
        return foundStuck.compareAndSet(false, true);
    }

    boolean isDone() {
        return result.isDone();
    }

    /** Completes the load. Failures that concern its owner only, such as an interrupt, are not shared. */
    void complete(LoadResult<V> loaded) {
        Throwable failure = loaded.failure();
        result.complete(failure != null && OwnerFailures.contain(failure) ? new LoadResult.Unshared<>(null) : loaded);
    }

    /** The result of this load, for a reader that does not wait on its thread; null when the time is over. */
    CompletableFuture<@Nullable LoadResult<V>> later(long nanos) {
        return result.<@Nullable LoadResult<V>>thenApply(loaded -> loaded)
                .completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
    }

    /** The result of this load or of another, whichever is first; null when the time is over. */
    @Nullable LoadResult<V> await(@Nullable InFlightLoad<V> other, long nanos) throws InterruptedException {
        CompletableFuture<?> first = other == null ? result : CompletableFuture.anyOf(result, other.result);
        try {
            first.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
            return null;
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
        return result.isDone() || other == null ? result.join() : other.result.join();
    }
}
