package io.easykit.cache.engine;

import io.easykit.cache.AsyncEasyCache;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Calls of a cache that is switched off: they run on the thread of the caller, which waits for nothing. */
final class UncachedAsyncCalls implements AsyncEasyCache {

    @Override
    public <V> CompletableFuture<@Nullable V> fetch(
            CacheKey<V> key, Supplier<? extends CompletionStage<? extends V>> loader, Predicate<@Nullable V> storable) {
        return run(loader, value -> value);
    }

    @Override
    public <K, V> CompletableFuture<Map<K, V>> fetchAll(
            CacheSpec<V> spec,
            Collection<? extends K> ids,
            Function<? super Collection<K>, ? extends CompletionStage<Map<K, V>>> loader,
            Predicate<@Nullable V> storable) {
        try {
            BatchIds<K, V> batch = new BatchIds<>(spec, ids);
            Supplier<CompletionStage<Map<K, V>>> all = () ->
                    batch.ids().isEmpty() ? CompletableFuture.completedFuture(Map.of()) : loader.apply(batch.ids());
            return run(all, found -> batch.loadAll(missing -> found));
        } catch (RuntimeException unfit) {
            return CompletableFuture.failedFuture(unfit);
        }
    }

    @Override
    public <V> CompletableFuture<@Nullable CachedValue<V>> peek(CacheKey<V> key) {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public <T> CompletableFuture<@Nullable T> update(
            Collection<? extends CacheKey<?>> keys, Supplier<? extends CompletionStage<? extends T>> action) {
        return run(action, value -> value);
    }

    @Override
    public CompletableFuture<Void> invalidate(Collection<? extends CacheKey<?>> keys) {
        return CompletableFuture.completedFuture(null);
    }

    /** As on a thread of the cache, the future ends with the very exception of the work. */
    private static <S, T> CompletableFuture<@Nullable T> run(
            Supplier<? extends CompletionStage<? extends S>> work, Function<? super @Nullable S, ? extends T> result) {
        CompletableFuture<@Nullable T> future = new CompletableFuture<>();
        try {
            CompletionStage<? extends S> stage = work.get();
            if (stage == null) {
                future.complete(result.apply(null));
            } else {
                stage.whenComplete((value, failure) -> end(future, value, failure, result));
            }
        } catch (Throwable failure) {
            future.completeExceptionally(failure);
        }
        return future;
    }

    private static <S, T> void end(
            CompletableFuture<@Nullable T> future,
            @Nullable S value,
            @Nullable Throwable failure,
            Function<? super @Nullable S, ? extends T> result) {
        try {
            if (failure == null) {
                future.complete(result.apply(value));
            } else {
                boolean wrapped = failure instanceof CompletionException && failure.getCause() != null;
                future.completeExceptionally(wrapped ? failure.getCause() : failure);
            }
        } catch (Throwable unfit) {
            future.completeExceptionally(unfit);
        }
    }
}
