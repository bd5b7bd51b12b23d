package io.easykit.cache;

import java.lang.reflect.Type;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A cache that does not keep a stale value: each load is fenced against the updates that happen meanwhile, and each
 * update is announced before its commit and ended after it.
 *
 * <pre>{@code
 * CacheSpec<User> users = CacheSpec.of("user", User.class);
 * User user = cache.fetch(users.key(42), () -> dao.find(42));
 * cache.update(List.of(users.key(42)), () -> dao.rename(42, "Ada"));
 * }</pre>
 *
 * <p>Inside a transaction that its {@link Transactions} know of, an update belongs to that transaction as well. What is
 * loaded amid unfinished work of the caller is not stored. Thread-safe. While a store is away, reads return what the loader
 * returns.
 */
public interface EasyCache {

    /**
     * The cached value, or what the loader brings.
     *
     * @throws X what the loader throws, the very same object
     */
    default <V, X extends Throwable> @Nullable V fetch(CacheKey<V> key, Loader<V, X> loader) throws X {
        return fetch(key, loader, any -> true);
    }

    /**
     * The cached value, or what the loader brings.
     *
     * @param storable whether a loaded value may be cached
     * @throws X what the loader throws, the very same object
     */
    <V, X extends Throwable> @Nullable V fetch(CacheKey<V> key, Loader<V, X> loader, Predicate<@Nullable V> storable)
            throws X;

    /**
     * Changes the data behind some entries, and invalidates these: prepared before the action, invalidated after it,
     * whatever its result. Inside a transaction they are also prepared before its commit and invalidated after its end.
     * So the action may commit its work itself, or leave it to the transaction.
     *
     * @throws X what the action throws, the very same object
     * @throws CacheUnavailableException if a CP update cannot be prepared. The action has not run, or the transaction is
     *     rolled back
     */
    <T, X extends Throwable> @Nullable T update(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X;

    /**
     * Like {@link #update}, for an action that does all its work in the present transaction: prepared before the commit of
     * that transaction, invalidated after its end. Costs one round trip less before and one less after each action.
     * Without a transaction the same as {@link #update}.
     *
     * @throws X what the action throws, the very same object
     * @throws CacheUnavailableException if a CP update cannot be prepared; the transaction is rolled back
     */
    <T, X extends Throwable> @Nullable T updateInTransaction(
            Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X;

    /**
     * Invalidates entries whose data have changed: now and, inside a transaction, with that transaction as well. For a
     * change that is still to come, {@link #update} is the safe call.
     */
    void invalidate(Collection<? extends CacheKey<?>> keys);

    /** Like {@link #invalidate(Collection)}, for a change that was made in the present transaction and ends with it. */
    void invalidateInTransaction(Collection<? extends CacheKey<?>> keys);

    /** {@link #invalidate(Collection)} of one entry. */
    default void invalidate(CacheKey<?> key) {
        invalidate(List.of(key));
    }

    /**
     * The decision maker of one Redis, to look at it or to force it.
     *
     * @return null if there is no such cluster
     */
    @Nullable Availability availability(String clusterId);

    /** The ids of all clusters. */
    Set<String> clusterIds();

    /**
     * Finds what keeps all values of a type from being stored and restored, as far as the type shows it.
     *
     * @return null if nothing is known against the type
     */
    @Nullable String problemWith(Type type);

    /** How many keys' invalidations wait for a cluster, a prefix as a whole for one. */
    int undelivered(String clusterId);

    /**
     * What the outbox has for a cluster, not older than ten seconds. Each message is counted by the node that delivers, and by
     * nodes that do not reach the cluster.
     *
     * @return null without an outbox, if this node does not count, or if its database does not answer
     */
    @Nullable OutboxBacklog outboxBacklog(String clusterId);
}
