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

/** Runs the blocking calls on threads that may wait: one protocol, not two. */
final class AsyncCalls implements AsyncEasyCache {

    private final EasyCache cache;
    private final Transactions transactions;
    private final Futures futures;

    AsyncCalls(EasyCache cache, Transactions transactions, Futures futures) {
        this.cache = cache;
        this.transactions = transactions;
        this.futures = futures;
    }

    @Override
    public <V> CompletableFuture<@Nullable V> fetch(
            CacheKey<V> key, Supplier<? extends CompletionStage<? extends V>> loader, Predicate<@Nullable V> storable) {
        Loader<V, Throwable> waiting = () -> Futures.<V>await(loader.get());
        return futures.start(() -> cache.fetch(key, waiting, storable));
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
