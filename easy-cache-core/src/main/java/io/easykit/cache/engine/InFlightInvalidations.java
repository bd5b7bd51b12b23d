package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Invalidations that are being sent to one Redis. A recovery waits for those that began before it. Later ones reach the store;
 * under load there is always one of them, so a wait for all would not end.
 */
final class InFlightInvalidations {

    private static final Duration CHECK_EVERY = Duration.ofSeconds(1);

    private final Ticker ticker;

    private final Set<Running> running = ConcurrentHashMap.newKeySet();

    InFlightInvalidations(Ticker ticker) {
        this.ticker = ticker;
    }

    /** One invalidation. Compared by identity. */
    private static final class Running {

        private final Collection<? extends CacheKey<?>> keys;
        private final CompletableFuture<Void> end = new CompletableFuture<>();

        private Running(Collection<? extends CacheKey<?>> keys) {
            this.keys = keys;
        }

        /** A key that stands for all entries has a part in each partition. */
        private boolean isIn(Predicate<CacheKey<?>> partition) {
            return keys.stream().anyMatch(key -> key.isAll() || partition.test(key));
        }
    }

    /** Runs an invalidation. One that fails is recorded as pending before it ends. */
    <T extends @Nullable Object> T run(Collection<? extends CacheKey<?>> keys, Supplier<T> invalidation) {
        Running mine = new Running(keys);
        running.add(mine);
        try {
            return invalidation.get();
        } finally {
            running.remove(mine);
            mine.end.complete(null);
        }
    }

    /**
     * Returns when those of a partition that began before have ended.
     *
     * @param here the keys of the partition
     * @throws StoreUnavailableException if the thread is interrupted, which stays set
     */
    void awaitEarlier(Predicate<CacheKey<?>> here) {
        CompletableFuture<Void> earlier = CompletableFuture.allOf(running.stream()
                .filter(one -> one.isIn(here))
                .map(one -> one.end)
                .toArray(CompletableFuture<?>[]::new));
        while (!earlier.isDone()) {
            try {
                var unused = ticker.await(earlier, CHECK_EVERY.toNanos());
            } catch (TimeoutException notYet) {
                // Each ends within the timeouts of its commands.
            } catch (ExecutionException never) {
                throw new IllegalStateException(never);
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
                throw StoreUnavailableException.notCalled("Interrupted while invalidations were under way");
            }
        }
    }
}
