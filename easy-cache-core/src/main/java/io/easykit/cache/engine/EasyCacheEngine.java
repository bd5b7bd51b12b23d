package io.easykit.cache.engine;

import io.easykit.cache.Action;
import io.easykit.cache.AsyncEasyCache;
import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.EasyCache;
import io.easykit.cache.FillTicket;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.Loader;
import io.easykit.cache.Transactions;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.admin.CacheDeclaration;
import io.easykit.cache.admin.EasyCacheAdmin;
import io.easykit.cache.async.Futures;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.LocalLevel;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.time.EngineTime;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The cache: puts the stores, their clusters and the updates together. {@link #builder} makes one. Thread-safe. */
public final class EasyCacheEngine extends ClusteredCache {

    private final Updates updates;
    private final OrderedCalls ordered;
    private final ValueEnvelopes values;
    private final CacheCounts counts;
    private final Ticker ticker;
    private final AsyncEasyCache async;
    private final boolean disabled;
    private final List<LocalLevel> levels;

    private EasyCacheEngine(
            CacheClusters clusters,
            List<LocalLevel> levels,
            EngineContext engine,
            CacheCounts counts,
            @Nullable Futures futures) {
        super(clusters);
        this.levels = levels;
        this.counts = counts;
        this.disabled = futures == null;
        this.updates = new Updates(clusters, engine);
        this.ordered = new OrderedCalls(updates, engine);
        this.values = engine.values();
        this.ticker = engine.ticker();
        this.async = futures == null ? new UncachedAsyncCalls() : new AsyncCalls(this, clusters, engine, futures);
    }

    /** Starts to put a cache together; without a store it has no Redis. */
    public static Builder builder(ValueCodec codec) {
        return new Builder(codec);
    }

    @Override
    @SuppressWarnings("unchecked") // nothing but the loader throws something checked
    public <V, X extends Throwable> @Nullable V fetch(
            CacheKey<V> key, Loader<V, X> loader, Predicate<@Nullable V> storable) throws X {
        if (disabled) {
            return loader.load();
        }
        PrefixClearing.requireEntry(key);
        FallbackReader reader = clusters().of(key).readers().single();
        if (updates.isUpdatedHere(key)) {
            LoadInProgress.markUnstorable();
            return loader.load();
        }
        try {
            return OrderedCalls.isSerial(key)
                    ? ordered.fetch(reader, key, at -> new ReadRequest<>(key, loader, storable, at))
                    : reader.fetch(new ReadRequest<>(key, loader, storable, ticker.nanoTime()));
        } catch (Throwable failure) {
            throw (X) failure;
        }
    }

    @Override
    @SuppressWarnings("unchecked") // nothing but the loader throws something checked
    public <K, V, X extends Throwable> Map<K, V> fetchAll(
            CacheSpec<V> spec,
            Collection<? extends K> ids,
            BatchLoader<K, V, X> loader,
            Predicate<@Nullable V> storable)
            throws X {
        BatchIds<K, V> batch = new BatchIds<>(spec, ids);
        if (disabled) {
            return batch.loadAll(loader);
        }
        BatchReader reader = clusters().of(spec).readers().batch();
        try {
            return batch.fetchAll(loader, storable, updates::isUpdatedHere, reader, ticker.nanoTime());
        } catch (Throwable failure) {
            throw (X) failure;
        }
    }

    @Override
    public <V> @Nullable CachedValue<V> peek(CacheKey<V> key) {
        return directly(key, calls -> calls.peek(key));
    }

    @Override
    public <V> @Nullable FillTicket<V> startFill(CacheKey<V> key) {
        return directly(key, calls -> calls.startFill(key));
    }

    private <T> @Nullable T directly(CacheKey<?> key, Function<DirectCalls, @Nullable T> call) {
        PrefixClearing.requireEntry(key);
        boolean unusable = disabled || updates.isUpdatedHere(key);
        return unusable ? null : call.apply(clusters().of(key).readers().direct());
    }

    /** Refuses keys of an unknown Redis, unless the cache is switched off. */
    private boolean isOff(Collection<? extends CacheKey<?>> keys) {
        if (!disabled) {
            keys.forEach(clusters()::of);
        }
        return disabled;
    }

    @Override
    public <T, X extends Throwable> @Nullable T update(Collection<? extends CacheKey<?>> keys, Action<T, X> action)
            throws X {
        return isOff(keys) ? action.run() : ordered.update(keys, action);
    }

    @Override
    public <T, X extends Throwable> @Nullable T updateInTransaction(
            Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        return isOff(keys) ? action.run() : ordered.updateInTransaction(keys, action);
    }

    @Override
    public <T, X extends Throwable> @Nullable T inOrder(Collection<? extends CacheKey<?>> keys, Action<T, X> action)
            throws X {
        return disabled ? action.run() : ordered.inOrder(keys, action);
    }

    @Override
    public void invalidate(Collection<? extends CacheKey<?>> keys) {
        if (!isOff(keys)) {
            updates.invalidate(keys);
        }
    }

    @Override
    public void invalidateInTransaction(Collection<? extends CacheKey<?>> keys) {
        if (!isOff(keys)) {
            updates.invalidateInTransaction(keys);
        }
    }

    @Override
    public AsyncEasyCache async() {
        return async;
    }

    @Override
    public @Nullable String problemWith(Type type) {
        return values.problemWith(type);
    }

    /** Shows and changes this cache for operators, with the caches that it has used. */
    public EasyCacheAdmin admin() {
        return admin(List::of);
    }

    /**
     * Shows and changes this cache for operators.
     *
     * @param declared returns the caches that this node declares, used or not
     */
    public EasyCacheAdmin admin(Supplier<List<CacheDeclaration>> declared) {
        return disabled
                ? new DisabledAdministration()
                : new CacheAdministration(clusters(), new KnownCaches(declared, counts));
    }

    /** Drops the values that this JVM keeps: those of the near and the local levels. */
    public void clearLocally() {
        levels.forEach(LocalLevel::clear);
    }

    /** How many keys of serial caches have calls that run or wait. */
    int busyKeys() {
        return ordered.busyKeys();
    }

    /** Puts a cache together. */
    public static final class Builder {

        private final ValueCodec codec;
        private final Map<String, EntryStore> stores = new LinkedHashMap<>();
        private final List<CacheListener> listeners = new ArrayList<>();
        private Transactions transactions = Transactions.NONE;
        private Supplier<LocalLevel> localLevels = () -> LocalLevel.NONE;
        private Supplier<LocalLevel> nearLevels = () -> LocalLevel.NONE;
        private CircuitBreakerOptions circuitBreaker = CircuitBreakerOptions.defaults();
        private DegradedOptions degraded = DegradedOptions.defaults();
        private @Nullable Outbox outbox;
        private @Nullable Executor background;
        private Futures futures = Futures.onNewThreads();
        private LoadObserver loadObserver = LoadObserver.NONE;
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

        /** Sets the level for values of caches with a near TTL, one for each Redis; without it nothing is kept. */
        public Builder nearLevels(Supplier<LocalLevel> value) {
            this.nearLevels = value;
            return this;
        }

        /** Sets when a Redis counts as ill and when as well again. */
        public Builder circuitBreaker(CircuitBreakerOptions value) {
            this.circuitBreaker = value;
            return this;
        }

        /** Sets what happens while a Redis is away. */
        public Builder degraded(DegradedOptions value) {
            this.degraded = value;
            return this;
        }

        /**
         * Sets the outbox for updates that cannot be prepared in Redis before their commit, for another node to deliver.
         * Without it they are kept in this node's memory.
         */
        public Builder outbox(Outbox value) {
            this.outbox = value;
            return this;
        }

        /** Sets the executor of refreshes; it may reject tasks. Default: a few threads of its own. */
        public Builder background(Executor value) {
            this.background = value;
            return this;
        }

        /**
         * Sets the executor of {@link EasyCache#async() asynchronous calls}; it may reject tasks. It must not queue them, since a task
         * may wait for another one, unless all calls are a {@code fetch} that needs no thread. Default: threads without a bound.
         */
        public Builder async(Executor value) {
            return async(new Futures(value));
        }

        /** Sets the threads of {@link EasyCache#async() asynchronous calls}. */
        public Builder async(Futures value) {
            this.futures = value;
            return this;
        }

        /** Sets the observer of loads, for traces; without it there is none. */
        public Builder loadObserver(LoadObserver value) {
            this.loadObserver = value;
            return this;
        }

        public Builder listener(CacheListener value) {
            listeners.add(value);
            return this;
        }

        /**
         * Builds a cache that is switched off: a read runs its loader, an update its action, and nothing is invalidated. It
         * uses no store and starts no thread. Other processes may keep stale values of entries updated here until their TTL.
         */
        public Builder disabled() {
            this.disabled = true;
            return this;
        }

        /** Sets the time and the threads of the engine; a test moves it. Default: the time of the JVM, and threads. */
        public Builder time(EngineTime value) {
            this.ticker = Ticker.of(value);
            value.background().ifPresent(this::background);
            return this;
        }

        Builder ticker(Ticker value) {
            this.ticker = value;
            return this;
        }

        /** Builds the cache and starts its recovery workers. */
        public EasyCacheEngine build() {
            EasyCacheEngine cache = buildStopped();
            cache.start();
            return cache;
        }

        EasyCacheEngine buildStopped() {
            CacheCounts counts = new CacheCounts(ticker);
            EngineContext engine = new EngineContext(
                    new ValueEnvelopes(codec, ticker),
                    transactions,
                    background != null ? background : Refreshes.fewThreads(),
                    new SafeListener(counts, listeners, ticker),
                    new SafeObserver(loadObserver, ticker),
                    ticker);
            CacheCluster.Options options = new CacheCluster.Options(circuitBreaker, degraded);
            List<LocalLevel> all = new ArrayList<>();
            CacheClusters clusters = CacheClusters.of(disabled ? Map.of() : stores, (id, store) -> {
                CacheCluster.Levels levels = new CacheCluster.Levels(localLevels.get(), nearLevels.get());
                all.addAll(List.of(levels.local(), levels.near()));
                return new CacheCluster(id, store, levels, options, outbox, engine);
            });
            return new EasyCacheEngine(clusters, all, engine, counts, disabled ? null : futures);
        }
    }
}
