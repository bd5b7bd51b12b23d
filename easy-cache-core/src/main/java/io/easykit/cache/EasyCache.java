package io.easykit.cache;

import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
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
public final class EasyCache {

    private final Clusters clusters;
    private final Updates updates;
    private final Values values;
    private final Ticker ticker;
    private final boolean disabled;

    private EasyCache(Clusters clusters, Engine engine, boolean disabled) {
        this.clusters = clusters;
        this.disabled = disabled;
        this.updates = new Updates(clusters, engine);
        this.values = engine.values();
        this.ticker = engine.ticker();
    }

    public static Builder builder(ValueCodec codec) {
        return new Builder(codec);
    }

    /**
     * The cached value, or what the loader brings.
     *
     * @throws X what the loader throws, the very same object
     */
    public <V, X extends Throwable> @Nullable V fetch(CacheKey<V> key, Loader<V, X> loader) throws X {
        return fetch(key, loader, any -> true);
    }

    /**
     * The cached value, or what the loader brings.
     *
     * @param storable whether a loaded value may be cached
     * @throws X what the loader throws, the very same object
     */
    @SuppressWarnings("unchecked") // nothing but the loader throws something checked
    public <V, X extends Throwable> @Nullable V fetch(
            CacheKey<V> key, Loader<V, X> loader, Predicate<@Nullable V> storable) throws X {
        if (disabled) {
            return loader.load();
        }
        Cluster cluster = clusters.of(key);
        if (updates.isUpdatedHere(key)) {
            RunningLoad.markUnstorable();
            return loader.load();
        }
        try {
            return cluster.reader().fetch(new Read<>(key, loader, storable, ticker.nanoTime()));
        } catch (Throwable failure) {
            throw (X) failure;
        }
    }

    /**
     * Changes the data behind some entries, and invalidates these: prepared before the action, invalidated after it,
     * whatever its result. Inside a transaction they are also prepared before its commit and invalidated after its end.
     * So the action may commit its work itself, or leave it to the transaction.
     *
     * @throws X what the action throws, the very same object
     * @throws CacheUnavailableException if a CP update cannot be prepared. The action has not run, or the transaction is
     *     rolled back
     */
    public <T, X extends Throwable> @Nullable T update(Collection<? extends CacheKey<?>> keys, Action<T, X> action)
            throws X {
        if (disabled) {
            return action.run();
        }
        keys.forEach(clusters::of);
        return updates.around(keys, action);
    }

    /**
     * Like {@link #update}, for an action that does all its work in the present transaction: prepared before the commit of
     * that transaction, invalidated after its end. Costs one round trip less before and one less after each action.
     * Without a transaction the same as {@link #update}.
     *
     * @throws X what the action throws, the very same object
     * @throws CacheUnavailableException if a CP update cannot be prepared; the transaction is rolled back
     */
    public <T, X extends Throwable> @Nullable T updateInTransaction(
            Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        if (disabled) {
            return action.run();
        }
        keys.forEach(clusters::of);
        return updates.inTransaction(keys, action);
    }

    /**
     * Invalidates entries whose data have changed: now and, inside a transaction, with that transaction as well. For a
     * change that is still to come, {@link #update} is the safe call.
     */
    public void invalidate(Collection<? extends CacheKey<?>> keys) {
        if (disabled) {
            return;
        }
        keys.forEach(clusters::of);
        updates.invalidate(keys);
    }

    /** Like {@link #invalidate(Collection)}, for a change that was made in the present transaction and ends with it. */
    public void invalidateInTransaction(Collection<? extends CacheKey<?>> keys) {
        if (disabled) {
            return;
        }
        keys.forEach(clusters::of);
        updates.invalidateInTransaction(keys);
    }

    /** {@link #invalidate(Collection)} of one entry. */
    public void invalidate(CacheKey<?> key) {
        invalidate(List.of(key));
    }

    /**
     * The decision maker of one Redis, to look at it or to force it.
     *
     * @return null if there is no such cluster
     */
    public @Nullable Availability availability(String clusterId) {
        Cluster cluster = cluster(clusterId);
        return cluster == null ? null : cluster.availability();
    }

    /** The ids of all clusters. */
    public Set<String> clusterIds() {
        return clusters.byId().keySet();
    }

    /**
     * Finds what keeps all values of a type from being stored and restored, as far as the type shows it.
     *
     * @return null if nothing is known against the type
     */
    public @Nullable String problemWith(Type type) {
        return values.problemWith(type);
    }

    /** How many keys' invalidations wait for a cluster, a prefix as a whole for one. */
    public int undelivered(String clusterId) {
        Cluster cluster = cluster(clusterId);
        return cluster == null ? 0 : cluster.journal().size();
    }

    /**
     * What the outbox has for a cluster, not older than ten seconds. Each message is counted by the node that delivers, and by
     * nodes that do not reach the cluster.
     *
     * @return null without an outbox, if this node does not count, or if its database does not answer
     */
    public Outbox.@Nullable Backlog outboxBacklog(String clusterId) {
        Cluster cluster = cluster(clusterId);
        OutboxRelay relay = cluster == null ? null : cluster.relay();
        return relay == null ? null : relay.backlog();
    }

    @Nullable Cluster cluster(String clusterId) {
        return clusters.byId().get(clusterId);
    }

    /** Looks after the clusters again after {@link #stop()}; a cache that was built has started. */
    public void start() {
        clusters.all().forEach(Cluster::start);
    }

    /** Ends the threads that look after the clusters. Reads and updates go on, but nothing recovers. */
    public void stop() {
        clusters.all().forEach(Cluster::stop);
    }

    /** Puts a cache together. */
    public static final class Builder {

        private final ValueCodec codec;
        private final Map<String, EntryStore> stores = new LinkedHashMap<>();
        private final List<CacheListener> listeners = new ArrayList<>();
        private Transactions transactions = Transactions.NONE;
        private Supplier<LocalLevel> localLevels = () -> LocalLevel.NONE;
        private AvailabilityOptions availability = AvailabilityOptions.defaults();
        private DegradedOptions degraded = DegradedOptions.defaults();
        private @Nullable Outbox outbox;
        private @Nullable Executor background;
        private Ticker ticker = Ticker.SYSTEM;
        private boolean disabled;

        private Builder(ValueCodec codec) {
            this.codec = codec;
        }

        /** Adds a Redis. */
        public Builder store(String clusterId, EntryStore store) {
            stores.put(clusterId, store);
            return this;
        }

        /** Lets updates belong to transactions; without it there are none. */
        public Builder transactions(Transactions value) {
            this.transactions = value;
            return this;
        }

        /** Sets the level that answers AP reads while a Redis is away, one for each; without it there is none. */
        public Builder localLevels(Supplier<LocalLevel> value) {
            this.localLevels = value;
            return this;
        }

        /** Sets when a Redis counts as ill and when as well again. */
        public Builder availability(AvailabilityOptions value) {
            this.availability = value;
            return this;
        }

        /** Sets what happens while a Redis is away. */
        public Builder degraded(DegradedOptions value) {
            this.degraded = value;
            return this;
        }

        /**
         * Sets where updates are recorded of which a Redis cannot be told before their commit, for another node to
         * deliver. Without it they are kept in this node's memory.
         */
        public Builder outbox(Outbox value) {
            this.outbox = value;
            return this;
        }

        /** Sets where refreshes run; it rejects what it has no thread for. Without it a few threads of its own. */
        public Builder background(Executor value) {
            this.background = value;
            return this;
        }

        public Builder listener(CacheListener value) {
            listeners.add(value);
            return this;
        }

        /**
         * Makes a cache that is switched off: a read runs its loader, an update its action, and nothing is invalidated. It
         * uses no store and starts no thread. Other processes may keep old values of what is updated here until their TTL.
         */
        public Builder disabled() {
            this.disabled = true;
            return this;
        }

        Builder ticker(Ticker value) {
            this.ticker = value;
            return this;
        }

        /** Puts it together and starts to look after the clusters. */
        public EasyCache build() {
            EasyCache cache = buildStopped();
            cache.start();
            return cache;
        }

        EasyCache buildStopped() {
            Engine engine = new Engine(
                    new Values(codec),
                    transactions,
                    background != null ? background : fewThreads(),
                    new SafeListener(listeners),
                    ticker);
            Map<String, Cluster> clusters = new LinkedHashMap<>();
            if (!disabled) {
                stores.forEach((id, store) -> clusters.put(
                        id, new Cluster(id, store, localLevels.get(), availability, degraded, outbox, engine)));
            }
            Clusters all = new Clusters(clusters);
            clusters.values().forEach(cluster -> cluster.join(all));
            return new EasyCache(all, engine, disabled);
        }

        /** Threads that go when there is nothing to do; a refresh that finds none free is left to a later reader. */
        private static Executor fewThreads() {
            AtomicInteger number = new AtomicInteger();
            return new ThreadPoolExecutor(0, 8, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(task, "easy-cache-refresh-" + number.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            });
        }
    }
}
