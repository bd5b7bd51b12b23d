package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.OutboxBacklog;
import io.easykit.cache.engine.UpdatePreparation.Leases;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.LocalLevel;
import io.easykit.cache.store.Outbox;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One Redis in use: its reads and updates, and the data that is kept for it while it is away. */
final class CacheCluster implements ClusterUpkeep {

    private static final Logger log = LoggerFactory.getLogger(CacheCluster.class);

    private final String id;
    private final ClusterAvailability availability;
    private final GuardedStore store;
    private final Epochs epochs;
    private final LocalEntries local;
    private final NearEntries near;
    private final InvalidationDelivery delivery;
    private final UpdatePreparation preparation;
    private final LateCommits lateCommits;
    private final LoadBulkhead limit;
    private final Readers readers;
    private final Redelivery redelivery;
    private final StoppedCluster afterStop;
    private final PrefixClearing clearing;
    private final @Nullable OutboxWriter outbox;
    private final @Nullable OutboxRelay relay;
    private final Ticker ticker;

    private final RecoveryWorkers workers;
    private volatile Function<CacheSpec<?>, CacheCluster> clusters = any -> this;
    private boolean started;

    CacheCluster(
            String id,
            EntryStore store,
            Levels levels,
            CacheCluster.Options options,
            @Nullable Outbox outbox,
            EngineContext engine) {
        DegradedOptions degraded = options.degraded();
        this.id = id;
        this.ticker = engine.ticker();
        this.lateCommits = new LateCommits(degraded.maxPendingInvalidations(), ticker);
        this.availability =
                new ClusterAvailability(id, options.circuitBreaker(), ticker, this::onAvailability, engine.listener());
        this.near = new NearEntries(levels.near);
        EntryStore evicting = new NearStore(store, near);
        this.store = new GuardedStore(evicting, availability, new RecentInvalidations(ticker));
        this.epochs = new Epochs(this.store, availability, near::clear, ticker);
        this.local = new LocalEntries(
                levels.local, engine.values(), degraded.localTtl(), key -> !this.store.isAvailable(key));
        this.delivery = new InvalidationDelivery(id, this.store, local, degraded.maxPendingInvalidations(), engine);
        Freshness freshness = new Freshness(delivery.ownUpdates(), delivery.pending());
        this.limit = new LoadBulkhead(degraded.concurrentLoads(), ticker);
        Readers.Sources sources = new Readers.Sources(this.store, epochs, freshness, near, local);
        this.readers = Readers.of(sources, limit, degraded.cpReads(), engine);
        this.redelivery = new Redelivery(this.store, delivery.recent(), new SiblingsElsewhere(), ticker);
        this.outbox = outbox == null ? null : new OutboxWriter(id, outbox, ticker);
        this.afterStop = new StoppedCluster(evicting, delivery, epochs, this.outbox, ticker);
        this.clearing = new PrefixClearing(epochs, delivery, engine);
        this.preparation = new UpdatePreparation(id, this.store, degraded, afterStop, this.outbox, engine);
        this.relay = outbox == null ? null : new OutboxRelay(delivery, clearing, outbox, ticker);
        this.workers = new RecoveryWorkers(availability, this.store::partitions, this::newWorker);
        store.onHint(new HintedInvalidations(id, near, epochs, engine));
        this.store.onReconnect(workers::onReconnect);
    }

    /** The levels of this JVM in front of one Redis: while it is away, and while it is available. */
    record Levels(LocalLevel local, LocalLevel near) {}

    /** How a Redis is used while it is available, and while it is not. */
    record Options(CircuitBreakerOptions circuitBreaker, DegradedOptions degraded) {}

    /** Keys of one update may lie in several clusters. */
    void join(Function<CacheSpec<?>, CacheCluster> all) {
        this.clusters = all;
    }

    synchronized void start() {
        if (outbox != null) {
            outbox.start();
        }
        if (!started) {
            started = true;
            afterStop.started();
            epochs.markUnknown();
            workers.start();
        }
        if (relay != null) {
            relay.start();
        }
    }

    synchronized void stop() {
        List<Runnable> steps = new ArrayList<>();
        if (relay != null) {
            steps.add(relay::stop);
        }
        if (started) {
            started = false;
            steps.add(workers::stop);
            // Those that no round has ended yet. What fails is delivered by the last step.
            steps.add(lateCommits::endClosed);
            if (outbox != null) {
                steps.add(outbox::stop);
            }
            steps.add(() -> lateCommits.stopped(id));
            steps.add(afterStop::stopped);
        }
        AllCalls.forEach(steps, Runnable::run);
    }

    @Override
    public boolean repartition() {
        return workers.repartition();
    }

    private RecoveryWorker newWorker(CircuitBreaker breaker) {
        EpochUpkeep upkeep = new EpochUpkeep(epochs, delivery, breaker, this::raiseSiblings, ticker);
        return new RecoveryWorker(delivery, upkeep, redelivery, breaker, this, ticker);
    }

    /** For explanations. Readers have their own parts. */
    GuardedStore store() {
        return store;
    }

    boolean holdsNear(CacheKey<?> key) {
        return near.get(key, ticker.nanoTime()) != null;
    }

    boolean holdsLocally(CacheKey<?> key) {
        return local.get(key) != null;
    }

    PrefixClearing clearing() {
        return clearing;
    }

    ClusterAvailability availability() {
        return availability;
    }

    Epochs epochs() {
        return epochs;
    }

    PendingInvalidations pending() {
        return delivery.pending();
    }

    Readers readers() {
        return readers;
    }

    List<RecoveryWorker> workers() {
        return workers.all();
    }

    /** Null without an outbox. */
    @Nullable OutboxRelay relay() {
        return relay;
    }

    @Nullable OutboxBacklog outboxBacklog() {
        return relay == null ? null : relay.backlog();
    }

    UpdatePreparation preparation() {
        return preparation;
    }

    /**
     * Ends an update; what cannot be delivered now is delivered before the cluster is read again.
     *
     * @param keys those in this cluster
     * @return those that were delivered
     */
    List<CacheKey<?>> invalidate(Collection<? extends CacheKey<?>> keys, UpdateEnd end) {
        return invalidate(keys, end, OutboxWriter::end);
    }

    /** The same on the thread of a worker, which does not wait for the database. */
    List<CacheKey<?>> invalidateLate(Collection<? extends CacheKey<?>> keys, UpdateEnd end) {
        return invalidate(keys, end, OutboxWriter::endLate);
    }

    /** Ends an update in the outbox. */
    private interface OutboxEnd {
        void record(OutboxWriter outbox, Collection<? extends CacheKey<?>> keys, UpdateEnd end, boolean undelivered);
    }

    private List<CacheKey<?>> invalidate(Collection<? extends CacheKey<?>> keys, UpdateEnd end, OutboxEnd outboxEnd) {
        List<CacheKey<?>> delivered = new ArrayList<>();
        Runnable clear = () -> delivered.addAll(clearing.end(PrefixClearing.clearedBy(keys), end.mark()));
        Runnable invalidate = () -> delivered.addAll(delivery.invalidate(
                PrefixClearing.entriesOf(keys),
                end.mark(),
                PrefixClearing.entriesOf(end.update()),
                breaker -> workers.of(breaker).submitDelivery()));
        try {
            AllCalls.forEach(List.of(clear, invalidate), Runnable::run);
        } finally {
            boolean undelivered = delivered.size() < keys.size();
            if (outbox != null) {
                outboxEnd.record(outbox, keys, end, undelivered);
            }
            if (undelivered && afterStop.isStopped()) {
                afterStop.deliver();
            }
        }
        return delivered;
    }

    /**
     * Clears a cache for an operator.
     *
     * @return whether Redis has acknowledged it
     */
    boolean drop(CacheKey<?> all) {
        boolean acknowledged = clearing.drop(all);
        if (!acknowledged && outbox != null) {
            outbox.addLate(List.of(all));
        }
        if (!acknowledged && afterStop.isStopped()) {
            afterStop.deliver();
        }
        return acknowledged;
    }

    /** See {@link InvalidationDelivery#invalidateAgain(List)}. */
    void invalidateAgain(List<CacheKey<?>> keys) {
        delivery.invalidateAgain(keys);
    }

    /** See {@link InvalidationDelivery#invalidateRolledBack}. A rollback before the commit clears no cache. */
    void invalidateRolledBack(Collection<? extends CacheKey<?>> keys) {
        delivery.invalidateRolledBack(PrefixClearing.entriesOf(keys));
        if (afterStop.isStopped()) {
            afterStop.deliverRolledBack();
        }
    }

    /** Keys that lie elsewhere than others of their update are invalidated again when those were delivered late. */
    private final class SiblingsElsewhere implements SiblingKeys {

        @Override
        public void prepare(Collection<? extends CacheKey<?>> keys, String token) {
            AllCalls.forEach(byCluster(keys), (cluster, group) -> {
                boolean prepared = cluster.preparation.prepareAgain(group, token, Leases.of(Redelivery.LEASE));
                if (!prepared) {
                    log.debug("{} are invalidated again without being prepared", group);
                }
            });
        }

        @Override
        public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
            AllCalls.forEach(byCluster(keys), (cluster, group) -> cluster.delivery.invalidateAgain(group, token));
        }

        private Map<CacheCluster, List<CacheKey<?>>> byCluster(Collection<? extends CacheKey<?>> keys) {
            return keys.stream()
                    .collect(Collectors.groupingBy(
                            key -> clusterOf(key.spec()), LinkedHashMap::new, Collectors.toUnmodifiableList()));
        }
    }

    private CacheCluster clusterOf(CacheSpec<?> spec) {
        return clusters.apply(spec);
    }

    /**
     * Raises the epochs of prefixes of which entries were updated together with dropped ones.
     *
     * @param at ticker time
     */
    private void raiseSiblings(List<CacheSpec<?>> prefixes, long at) {
        for (CacheSpec<?> spec : prefixes) {
            CacheCluster cluster = clusterOf(spec);
            for (int hash = 0; hash < cluster.store.epochHashes(); hash++) {
                cluster.delivery.pending().raiseAgain(hash, Set.of(spec.prefix()), at);
            }
        }
    }

    /** Leaves updates prepared, until their work cannot be committed any more. See {@link LateCommits#add}. */
    void whenClosed(BooleanSupplier open, Runnable end) {
        lateCommits.add(open, end);
    }

    @Override
    public void renewMarks() {
        preparation.renewals().renewDue();
    }

    @Override
    public void endLateWork() {
        lateCommits.endClosed();
        if (outbox != null) {
            outbox.unwritten().forgetFailedIf(() -> pending().size() == 0);
        }
    }

    /** Delivers the messages of other nodes in the outbox to a partition. */
    @Override
    public void deliverOutbox(Predicate<CacheKey<?>> here) {
        if (relay != null) {
            relay.deliverBeforeReaders(here);
        }
    }

    /** Clears the levels: updates of other nodes did not reach them before the change. */
    private void onAvailability(ClusterAvailability.Change change) {
        near.clear();
        if (change.state() == Availability.State.AVAILABLE) {
            limit.onAvailable(store.availability().state() == Availability.State.AVAILABLE);
            local.clear();
        } else {
            limit.onUnavailable();
        }
    }
}
