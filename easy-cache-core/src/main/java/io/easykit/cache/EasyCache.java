package io.easykit.cache;

import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A cache that keeps no stale value: each load is fenced against concurrent updates, and each update is prepared before its
 * commit and invalidated after it.
 *
 * <pre>{@code
 * CacheSpec<User> users = CacheSpec.of("user", User.class);
 * User user = cache.fetch(users.key(42), () -> dao.find(42));
 * cache.update(List.of(users.key(42)), () -> dao.rename(42, "Ada"));
 * }</pre>
 *
 * <p>Inside a transaction that {@link Transactions} can observe, an update belongs to that transaction as well. A value that
 * is loaded amid uncommitted work of the caller is not stored. Thread-safe. While a store is away, reads return the result of
 * the loader.
 */
public interface EasyCache {

    /**
     * Returns the cached value, or the result of the loader.
     *
     * @throws X the exception of the loader, the very same object
     */
    default <V, X extends Throwable> @Nullable V fetch(CacheKey<V> key, Loader<V, X> loader) throws X {
        return fetch(key, loader, any -> true);
    }

    /**
     * Returns the cached value, or the result of the loader.
     *
     * @param storable whether a loaded value may be cached
     * @throws X the exception of the loader, the very same object
     */
    <V, X extends Throwable> @Nullable V fetch(CacheKey<V> key, Loader<V, X> loader, Predicate<@Nullable V> storable)
            throws X;

    /**
     * Returns the cached values of several elements, and loads those that are missing by one call. Each element is one entry,
     * the same as {@code spec.key(id)} names. See {@link #fetchAll(CacheSpec, Collection, BatchLoader, Predicate)}.
     *
     * <pre>{@code
     * Map<Long, User> found = cache.fetchAll(users, List.of(1L, 2L, 3L), dao::findAll);
     * }</pre>
     *
     * @throws X the exception of the loader, the very same object
     */
    default <K, V, X extends Throwable> Map<K, V> fetchAll(
            CacheSpec<V> spec, Collection<? extends K> ids, BatchLoader<K, V, X> loader) throws X {
        return fetchAll(spec, ids, loader, any -> true);
    }

    /**
     * Returns the cached values of several elements, and loads those that are missing. The loader is called once with all
     * elements that no other reader loads. It is called a second time with those that other readers have failed to load
     * meanwhile, and under CP with those that were updated during the load. If it fails, nothing is stored.
     *
     * @param ids the elements; duplicates cost nothing
     * @param storable whether a loaded value may be cached
     * @return the values in the order of the elements. An element without a value is left out
     * @throws InvalidCacheKeyException if an element is null or cannot be the part of a key, or if the loader returns an
     *     element that it was not asked for
     * @throws X the exception of the loader, the very same object
     */
    <K, V, X extends Throwable> Map<K, V> fetchAll(
            CacheSpec<V> spec,
            Collection<? extends K> ids,
            BatchLoader<K, V, X> loader,
            Predicate<@Nullable V> storable)
            throws X;

    /**
     * Returns the cached value, without loading. Does not count as a read, and gives no load lease. While Redis is away, the value
     * of the local level is returned for an AP cache.
     *
     * @return null if no reader could have a cached value now
     */
    <V> @Nullable CachedValue<V> peek(CacheKey<V> key);

    /**
     * Begins to fill an entry with a value that the caller loads itself. Read it from the database after this call: reads of
     * other entries in between are ordinary reads, and may be stale. Other readers of the entry wait for the fill as for a
     * load, also those of this thread.
     *
     * <pre>{@code
     * try (FillTicket<User> ticket = cache.startFill(users.key(42))) {
     *     if (ticket != null) {
     *         ticket.tryFill(dao.find(42));
     *     }
     * }
     * }</pre>
     *
     * @return null if there is a value that is not yet due for a refresh, if another reader loads it, or if nothing may be
     *     stored now: during an update, while Redis is away, or on a thread to which Spring has bound anything (a
     *     transaction, a session, a connection), which may show older data
     */
    <V> @Nullable FillTicket<V> startFill(CacheKey<V> key);

    /**
     * Changes the data behind some entries, and invalidates them: prepared before the action, invalidated after it, also if
     * the action fails. Inside a transaction they are also prepared before its commit and invalidated after its end. So the
     * action may commit its work itself, or leave it to the transaction.
     *
     * <p>An update of a serial cache ({@link CacheOptions#serial()}) waits for its turn. The action then runs in a transaction
     * of its own, if there is a transaction manager: prepared before it begins and again before its commit, invalidated after
     * its end.
     *
     * @throws X the exception of the action, the very same object
     * @throws CacheOrderTimeoutException if the turn of a serial cache did not come in time; the action has not run
     * @throws CacheUnavailableException if a CP update cannot be prepared. The action has not run, or the transaction is
     *     rolled back
     */
    <T, X extends Throwable> @Nullable T update(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X;

    /**
     * As {@link #update}, for an action that does all its work in the current transaction: prepared before the commit of that
     * transaction, invalidated after its end. Saves one round trip before and one after each action. Without a transaction
     * it is prepared before the action and invalidated after it, and a serial cache begins none.
     *
     * @throws X the exception of the action, the very same object
     * @throws CacheOrderTimeoutException if the turn of a serial cache did not come in time; the action has not run
     * @throws CacheUnavailableException if a CP update cannot be prepared; the transaction is rolled back
     */
    <T, X extends Throwable> @Nullable T updateInTransaction(
            Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X;

    /**
     * Runs an action when it is the turn of some keys of serial caches ({@link CacheOptions#serial()}): alone with them in this
     * JVM, and in order of arrival. Reads and updates of these keys inside the action run at once. The action has no
     * transaction, unless it begins one. Keys of other caches need no turn. Inside a transaction that is active already, the
     * action runs at once, outside the order.
     *
     * @throws X the exception of the action, the very same object
     * @throws CacheOrderTimeoutException if the turn did not come in time; the action has not run
     */
    <T, X extends Throwable> @Nullable T inOrder(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X;

    /**
     * Invalidates entries whose data have changed: now and, inside a transaction, with that transaction as well. For a
     * change that is still to come, {@link #update} is the safe call.
     */
    void invalidate(Collection<? extends CacheKey<?>> keys);

    /** Like {@link #invalidate(Collection)}, for a change that was made in the present transaction and ends with it. */
    void invalidateInTransaction(Collection<? extends CacheKey<?>> keys);

    /**
     * Invalidates all entries of a cache whose data have changed, however many they are: now and, inside a transaction, with
     * that transaction as well. No key is searched for or deleted. For a change that is still to come, {@link #update} with
     * {@link CacheSpec#all()} is the safe call.
     *
     * <p>This node follows at once, other nodes within a probe interval (one second). For a CP cache it returns two seconds
     * later: then no reader of any node gets an older value.
     */
    default void invalidateAll(CacheSpec<?> spec) {
        invalidate(spec.all());
    }

    /** As {@link #invalidate(Collection)}, for one entry. */
    default void invalidate(CacheKey<?> key) {
        invalidate(List.of(key));
    }

    /** The same calls as futures, for code that must not block its thread. */
    AsyncEasyCache async();

    /**
     * Returns the availability of one Redis, to read or to force it.
     *
     * @return null if there is no such cluster
     */
    @Nullable Availability availability(String clusterId);

    /** The ids of all clusters. */
    Set<String> clusterIds();

    /**
     * Returns why no value of a type can be stored and decoded again, as far as the type shows it.
     *
     * @return a sentence; null if no reason is known
     */
    @Nullable String problemWith(Type type);

    /** Number of keys whose invalidations wait for a cluster. A prefix that is invalidated as a whole counts as one. */
    int undelivered(String clusterId);

    /**
     * Returns the backlog of the outbox for a cluster, at most ten seconds old. Each message is counted by the node that
     * delivers, and by nodes that do not reach the cluster.
     *
     * @return null without an outbox, if this node does not count, or if its database does not answer
     */
    @Nullable OutboxBacklog outboxBacklog(String clusterId);
}
