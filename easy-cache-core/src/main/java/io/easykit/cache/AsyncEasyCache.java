package io.easykit.cache;

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
 * The asynchronous calls of an {@link EasyCache}: none blocks the thread of its caller. Entries and guarantees are the same.
 *
 * <pre>{@code
 * CompletableFuture<User> user = cache.async().fetch(users.key(42), () -> dao.findLater(42));
 * }</pre>
 *
 * <p>A {@code fetch} holds no thread while it waits for Redis, for other loads or for the result of its loader. Each of the other
 * calls holds a thread of the cache while it waits. Loaders and actions are called on a thread of the cache, outside of any transaction
 * that is bound to the caller's thread. Cancelling a future stops neither a load nor an update. A failed future has the very
 * exception of the loader or action, or a {@link java.util.concurrent.RejectedExecutionException} if there is no thread.
 */
public interface AsyncEasyCache {

    /** As {@link EasyCache#fetch(CacheKey, Loader)}. */
    default <V> CompletableFuture<@Nullable V> fetch(
            CacheKey<V> key, Supplier<? extends CompletionStage<? extends V>> loader) {
        return fetch(key, loader, any -> true);
    }

    /**
     * As {@link EasyCache#fetch(CacheKey, Loader, Predicate)}.
     *
     * @param loader returns a stage with the value, or null for no value
     */
    <V> CompletableFuture<@Nullable V> fetch(
            CacheKey<V> key, Supplier<? extends CompletionStage<? extends V>> loader, Predicate<@Nullable V> storable);

    /**
     * As {@link EasyCache#fetch(CacheKey, Loader, Predicate)}.
     *
     * @param loader called on a thread of the cache, which it holds until it has returned its stage
     */
    default <V> CompletableFuture<@Nullable V> fetch(
            CacheKey<V> key, Loader.Later<V> loader, Predicate<@Nullable V> storable) {
        return fetch(key, () -> begin(loader), storable);
    }

    private static <V> @Nullable CompletionStage<? extends V> begin(Loader.Later<V> loader) {
        try {
            return loader.begin();
        } catch (Throwable failure) {
            return CompletableFuture.failedStage(failure);
        }
    }

    /** As {@link EasyCache#fetchAll(CacheSpec, Collection, BatchLoader)}. */
    default <K, V> CompletableFuture<Map<K, V>> fetchAll(
            CacheSpec<V> spec,
            Collection<? extends K> ids,
            Function<? super Collection<K>, ? extends CompletionStage<Map<K, V>>> loader) {
        return fetchAll(spec, ids, loader, any -> true);
    }

    /** As {@link EasyCache#fetchAll(CacheSpec, Collection, BatchLoader, Predicate)}. */
    <K, V> CompletableFuture<Map<K, V>> fetchAll(
            CacheSpec<V> spec,
            Collection<? extends K> ids,
            Function<? super Collection<K>, ? extends CompletionStage<Map<K, V>>> loader,
            Predicate<@Nullable V> storable);

    /** As {@link EasyCache#peek}. */
    <V> CompletableFuture<@Nullable CachedValue<V>> peek(CacheKey<V> key);

    /**
     * As {@link EasyCache#update}: prepared before the action is called, invalidated when its stage has ended, also if that
     * fails. The action begins and commits its own transaction. A serial cache begins none for it.
     */
    <T> CompletableFuture<@Nullable T> update(
            Collection<? extends CacheKey<?>> keys, Supplier<? extends CompletionStage<? extends T>> action);

    /**
     * As {@link EasyCache#invalidate(Collection)}. A transaction that is bound to the thread of the caller is observed: the
     * entries are invalidated after its end as well.
     */
    CompletableFuture<Void> invalidate(Collection<? extends CacheKey<?>> keys);

    /** {@link #invalidate(Collection)} of one entry. */
    default CompletableFuture<Void> invalidate(CacheKey<?> key) {
        return invalidate(List.of(key));
    }

    /** As {@link EasyCache#invalidateAll}. */
    default CompletableFuture<Void> invalidateAll(CacheSpec<?> spec) {
        return invalidate(spec.all());
    }
}
