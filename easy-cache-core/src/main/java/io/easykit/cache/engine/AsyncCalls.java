package io.easykit.cache.engine;

import io.easykit.cache.AsyncEasyCache;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import io.easykit.cache.EasyCache;
import io.easykit.cache.Loader;
import io.easykit.cache.Transactions;
import io.easykit.cache.async.Futures;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls that do not block their callers. Reads hold no thread while they wait ({@link AsyncReader}). The other calls are the blocking
 * ones, on threads that may wait: those of serial caches, of stores that answer on the thread of their caller, of several keys,
 * and updates.
 */
final class AsyncCalls implements AsyncEasyCache {

    private final EasyCache cache;
    private final CacheClusters clusters;
    private final Transactions transactions;
    private final Ticker ticker;
    private final Futures futures;

    AsyncCalls(EasyCache cache, CacheClusters clusters, EngineContext engine, Futures futures) {
        this.cache = cache;
        this.clusters = clusters;
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
        this.futures = futures;
    }

    @Override
    public <V> CompletableFuture<@Nullable V> fetch(
            CacheKey<V> key, Supplier<? extends CompletionStage<? extends V>> loader, Predicate<@Nullable V> storable) {
        return fetch(key, new SuppliedLoader<>(loader), storable);
    }

    @Override
    public <V> CompletableFuture<@Nullable V> fetch(
            CacheKey<V> key, Loader.Later<V> loader, Predicate<@Nullable V> storable) {
        try {
            PrefixClearing.requireEntry(key);
            AsyncReader reader = clusters.of(key).readers().later();
            Futures.Work<V> waiting = () -> cache.<V, Throwable>fetch(key, loader, storable);
            return OrderedCalls.isSerial(key) || !reader.isPossible()
                    ? futures.start(() -> loader.mayBeCached() ? waiting.run() : loader.load())
                    : reader.fetch(
                            new ReadRequest<>(key, loader, storable, ticker.nanoTime()), loader, futures, waiting);
        } catch (RuntimeException unfit) {
            return CompletableFuture.failedFuture(unfit);
        }
    }

    private record SuppliedLoader<V>(Supplier<? extends CompletionStage<? extends V>> supplier)
            implements Loader.Later<V> {

        @Override
        public @Nullable CompletionStage<? extends V> begin() {
            return supplier.get();
        }

        @Override
        public @Nullable V load() throws Throwable {
            return Futures.<V>await(supplier.get());
        }
    }

    @Override
    public <K, V> CompletableFuture<Map<K, V>> fetchAll(
            CacheSpec<V> spec,
            Collection<? extends K> ids,
            Function<? super Collection<K>, ? extends CompletionStage<Map<K, V>>> loader,
            Predicate<@Nullable V> storable) {
        List<K> now = new ArrayList<>(ids);
        return futures.start(() -> cache.<K, V, Throwable>fetchAll(
                spec, now, missing -> ElementLoader.requireMap(spec, Futures.await(loader.apply(missing))), storable));
    }

    @Override
    public <V> CompletableFuture<@Nullable CachedValue<V>> peek(CacheKey<V> key) {
        return futures.start(() -> cache.peek(key));
    }

    /** The thread has no transaction, so that the update belongs to the call alone. */
    @Override
    public <T> CompletableFuture<@Nullable T> update(
            Collection<? extends CacheKey<?>> keys, Supplier<? extends CompletionStage<? extends T>> action) {
        List<? extends CacheKey<?>> now = List.copyOf(keys);
        return futures.start(() ->
                cache.<T, Throwable>updateInTransaction(now, () -> Futures.<T>awaitUninterruptibly(action.get())));
    }

    /** The thread of the cache sees no transaction of the caller. */
    @Override
    public CompletableFuture<Void> invalidate(Collection<? extends CacheKey<?>> keys) {
        List<? extends CacheKey<?>> now = List.copyOf(keys);
        if (transactions.isEndHidden() || transactions.lateCommit() != null) {
            return invalidateHere(now);
        }
        if (transactions.isActive()) {
            cache.invalidateInTransaction(now);
        }
        return futures.start(() -> {
            cache.invalidate(now);
            return null;
        });
    }

    /** The entries stay marked until the lease of their mark, or until the connection of the caller is given back. */
    private CompletableFuture<Void> invalidateHere(List<? extends CacheKey<?>> keys) {
        try {
            cache.invalidate(keys);
            return CompletableFuture.completedFuture(null);
        } catch (RuntimeException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }
}
