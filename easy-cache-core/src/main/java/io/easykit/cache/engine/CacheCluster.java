package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.AvailabilityOptions;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.Transactions;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.LocalLevel;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.store.Partitions;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One Redis in use: its reads and updates, and the data that is kept for it while it is away. */
final class CacheCluster {

    private static final Logger log = LoggerFactory.getLogger(CacheCluster.class);

    /** A failover, and the time until enough calls have failed, fit into it. */
    private static final Duration KEEP_RECENT = Duration.ofSeconds(30);

    private static final int MOST_RECENT = 50_000;

    private static final String NO_TOKEN = "";

    private final String id;
    private final DegradedOptions degraded;
    private final CacheListener listener;
    private final CircuitBreakers availability;
    private final AvailabilityOptions options;
    private final GuardedStore store;
    private final Epochs epochs;
    private final LocalEntries local;
    private final PendingInvalidations pending;
    private final RecentInvalidations recent;
    private final RolledBackUpdates rolledBack;
    private final LateCommits lateCommits;
    private final OwnUpdates ownUpdates;
    private final LoadBulkhead limit;
    private final CacheReader reader;
    private final Redelivery redelivery;
    private final StoppedCluster afterStop;
    private final @Nullable OutboxWriter outbox;
    private final @Nullable OutboxRelay relay;
    private final Transactions transactions;
    private final Ticker ticker;

    /** One for each partition, in their order. */
    private volatile List<RecoveryWorker> workers;

    private volatile @Nullable CacheClusters all;
    private boolean started;

    /** Held in shared mode while an invalidation is sent to the store or, failing that, recorded as pending. */
    private final StampedLock deliveryBarrier = new StampedLock();

    CacheCluster(
            String id,
            EntryStore store,
            LocalLevel level,
            AvailabilityOptions options,
            DegradedOptions degraded,
            @Nullable Outbox outbox,
            EngineContext engine) {
        this.id = id;
        this.degraded = degraded;
        this.options = options;
        this.listener = engine.listener();
        this.pending = new PendingInvalidations(degraded.maxPendingInvalidations(), store);
        this.recent = new RecentInvalidations(KEEP_RECENT, MOST_RECENT, engine.ticker());
        this.rolledBack = new RolledBackUpdates(engine.ticker());
        this.lateCommits = new LateCommits(engine.ticker());
        this.ownUpdates = new OwnUpdates(engine.ticker());
        this.availability = new CircuitBreakers(id, options, engine.ticker(), this::onAvailability);
        this.store = new GuardedStore(store, availability);
        this.epochs = new Epochs(this.store, availability);
        this.local = new LocalEntries(level, engine.values(), degraded.localTtl());
        Freshness freshness = new Freshness(ownUpdates, pending);
        this.limit = new LoadBulkhead(degraded.concurrentLoads(), engine.ticker());
        CacheDispatcher dispatcher = new CacheDispatcher(this.store, epochs, freshness, limit, engine);
        this.reader = new FallbackReader(id, dispatcher, freshness, local, degraded, limit, engine);
        this.redelivery = new Redelivery(this.store, recent, new SiblingsElsewhere());
        this.afterStop = new StoppedCluster(id, store, pending, recent, availability, outbox != null, engine.ticker());
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
        this.workers = newWorkers();
        this.store.onReconnect(server -> workers.forEach(worker -> worker.onReconnect(server)));
        this.outbox = outbox == null ? null : new OutboxWriter(id, outbox);
        this.relay = outbox == null ? null : new OutboxRelay(this, outbox, engine.ticker());
    }

    /** Keys of one update may lie in several clusters. */
    void join(CacheClusters clusters) {
        this.all = clusters;
    }

    synchronized void start() {
        if (!started) {
            started = true;
            afterStop.started();
            epochs.markUnknown();
            workers.forEach(RecoveryWorker::start);
        }
        if (relay != null) {
            relay.start();
        }
    }

    synchronized void stop() {
        if (relay != null) {
            relay.stop();
        }
        if (started) {
            started = false;
            workers.forEach(RecoveryWorker::stop);
            afterStop.stopped();
        }
    }

    /**
     * Follows the store if the same keys do not belong together any more: its partitions become known with the first
     * connection, or slots were moved. Waits until all is well, unless the partitions were not known before.
     *
     * @return whether anything was changed
     */
    boolean repartition() {
        Partitions present = availability.partitions();
        Partitions next = store.partitions();
        boolean known = present.count() > 1;
        boolean well = availability.state() == Availability.State.AVAILABLE;
        boolean news = next != present && (known || next.count() > 1);
        if (!news || (known && !well)) {
            return false;
        }
        synchronized (this) {
            if (availability.partitions() != present) {
                return false;
            }
            workers.forEach(RecoveryWorker::stop);
            availability.repartition(next);
            workers = newWorkers();
            workers.forEach(RecoveryWorker::repeatOnce);
            if (started) {
                workers.forEach(RecoveryWorker::start);
            }
            return true;
        }
    }

    private List<RecoveryWorker> newWorkers() {
        return availability.breakers().stream()
                .map(breaker -> new RecoveryWorker(this, breaker, options, ticker))
                .toList();
    }

    String id() {
        return id;
    }

    GuardedStore store() {
        return store;
    }

    CircuitBreakers availability() {
        return availability;
    }

    Epochs epochs() {
        return epochs;
    }

    LocalEntries local() {
        return local;
    }

    PendingInvalidations pending() {
        return pending;
    }

    RecentInvalidations recent() {
        return recent;
    }

    Redelivery redelivery() {
        return redelivery;
    }

    /** Takes over when the keeper was stopped. */
    StoppedCluster afterStop() {
        return afterStop;
    }

    CacheReader reader() {
        return reader;
    }

    List<RecoveryWorker> workers() {
        return workers;
    }

    private RecoveryWorker worker(CircuitBreaker breaker) {
        return workers.stream()
                .filter(one -> one.breaker() == breaker)
                .findFirst()
                .orElse(workers.get(0));
    }

    /** Null without an outbox. */
    @Nullable OutboxRelay relay() {
        return relay;
    }

    /**
     * Announces an update. What Redis does not acknowledge in time goes on with a message in the outbox, or the update is
     * refused.
     *
     * @param beforeCommit whether the transaction of this thread is about to commit
     * @return whether all keys are announced
     * @throws CacheUnavailableException if it is refused
     */
    boolean prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease, boolean beforeCommit) {
        Map<CircuitBreaker, List<CacheKey<?>>> parts = store.byPartition(keys);
        if (parts.size() > 1 && !afterStop.isStopped()) {
            refuseBeforeSending(parts);
        }
        TimeLeft time = new TimeLeft(keys.size());
        List<CacheKey<?>> undelivered = new ArrayList<>();
        for (List<CacheKey<?>> part : parts.values()) {
            if (!prepare(part, token, lease, time)) {
                undelivered.addAll(part);
            }
        }
        if (!undelivered.isEmpty()) {
            writeToOutbox(undelivered, token, lease, beforeCommit);
        }
        return undelivered.isEmpty();
    }

    /** Before anything is sent: an update that is refused by one partition need not cost the values in the others. */
    private void refuseBeforeSending(Map<CircuitBreaker, List<CacheKey<?>>> parts) {
        parts.forEach((breaker, part) -> {
            if (!breaker.mayWrite()) {
                refuseOrGoOn(part, StoreUnavailableException.notCalled("The cluster is marked unavailable"));
            }
        });
    }

    private boolean prepare(List<CacheKey<?>> keys, String token, Duration lease, TimeLeft time) {
        try {
            prepareInBatches(store, keys, token, lease, time);
            return true;
        } catch (StoreUnavailableException away) {
            boolean late = afterStop.isStopped()
                    && afterStop.prepare(reopened -> prepareInBatches(reopened, keys, token, lease, time));
            if (!late) {
                refuseOrGoOn(keys, away);
            }
            return late;
        }
    }

    /** Each batch has a command timeout of its own; all of them together have the time of the transaction. */
    private static void prepareInBatches(
            EntryStore to, Collection<? extends CacheKey<?>> keys, String token, Duration lease, TimeLeft time) {
        for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(keys)) {
            time.check();
            to.prepare(batch, token, lease);
        }
    }

    /** Remaining time of the transaction for the preparation of many keys. */
    private final class TimeLeft {

        private final int keys;
        private final @Nullable Duration left;
        private final long startedAt = ticker.nanoTime();

        TimeLeft(int keys) {
            this.keys = keys;
            this.left = keys > Batches.SIZE ? transactions.timeout() : null;
        }

        void check() {
            if (left != null && ticker.nanoTime() - startedAt >= left.toNanos()) {
                throw new StoreUnavailableException(
                        "The transaction's time is over before all of its " + keys + " keys were prepared",
                        false,
                        null);
            }
        }
    }

    /** Sends an invalidation whose data have changed already. False if Redis did not confirm it. */
    boolean announce(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        try {
            prepareInBatches(store, keys, token, lease, new TimeLeft(keys.size()));
            return true;
        } catch (StoreUnavailableException away) {
            log.debug("The invalidation of {} could not be announced to Redis cluster '{}'", keys, id, away);
            return false;
        }
    }

    /**
     * Ends an update; what cannot be delivered now is delivered before the cluster is read again.
     *
     * @param update all keys of the update, in this cluster and in others
     * @return those that were delivered
     */
    List<CacheKey<?>> invalidate(
            Collection<? extends CacheKey<?>> keys, String token, Collection<? extends CacheKey<?>> update) {
        ownUpdates.add(keys);
        keys.forEach(local::invalidate);
        Map<CircuitBreaker, List<CacheKey<?>>> parts = store.byPartition(keys);
        List<CacheKey<?>> together = parts.size() > 1 || update.size() > keys.size() ? List.copyOf(update) : List.of();
        List<CacheKey<?>> delivered = new ArrayList<>();
        parts.forEach((breaker, part) -> {
            StoreUnavailableException away =
                    sendInvalidations(part, token, together, undelivered -> pending.add(undelivered, token, together));
            part.forEach(key -> listener.onInvalidation(key, away));
            if (away == null) {
                delivered.addAll(part);
            } else if (breaker.mayWrite()) {
                worker(breaker).submitDelivery();
            }
        });
        ownUpdates.add(keys);
        boolean undelivered = delivered.size() < keys.size();
        if (outbox != null) {
            endInOutbox(outbox, keys, token, undelivered);
        }
        if (undelivered && afterStop.isStopped()) {
            afterStop.deliver();
        }
        return delivered;
    }

    /** Keys that lie elsewhere than others of their update are invalidated again when those were delivered late. */
    private final class SiblingsElsewhere implements SiblingKeys {

        @Override
        public void prepare(Collection<? extends CacheKey<?>> keys, String token) {
            byCluster(keys).forEach((cluster, group) -> {
                boolean prepared = cluster.announce(group, token, Redelivery.LEASE);
                if (!prepared) {
                    log.debug("{} are invalidated again without being prepared", group);
                }
            });
        }

        @Override
        public void invalidateNow(Collection<? extends CacheKey<?>> keys, String token) {
            byCluster(keys).forEach((cluster, group) -> cluster.invalidateAgain(group, token));
        }

        private Map<CacheCluster, List<CacheKey<?>>> byCluster(Collection<? extends CacheKey<?>> keys) {
            Map<CacheCluster, List<CacheKey<?>>> groups = new LinkedHashMap<>();
            for (CacheKey<?> key : keys) {
                groups.computeIfAbsent(clusterOf(key.spec()), any -> new ArrayList<>())
                        .add(key);
            }
            return groups;
        }
    }

    private CacheCluster clusterOf(CacheSpec<?> spec) {
        CacheClusters clusters = all;
        return clusters == null ? this : clusters.of(spec);
    }

    /** Drops values that were stored since the keys were invalidated. */
    void invalidateAgain(List<CacheKey<?>> keys) {
        invalidateAgain(keys, NO_TOKEN);
    }

    private void invalidateAgain(List<CacheKey<?>> keys, String token) {
        keys.forEach(local::invalidate);
        store.byPartition(keys).forEach((breaker, part) -> {
            try {
                for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(part)) {
                    store.invalidateNow(batch, token);
                    recent.add(batch);
                }
            } catch (StoreUnavailableException away) {
                log.debug("{} are kept to be invalidated again", part, away);
                pending.add(part, NO_TOKEN);
            }
        });
    }

    /**
     * Raises the epochs of prefixes of which entries were updated together with dropped ones.
     *
     * @param at ticker time
     */
    void raiseSiblings(List<CacheSpec<?>> prefixes, long at) {
        for (CacheSpec<?> spec : prefixes) {
            CacheCluster cluster = clusterOf(spec);
            for (int hash = 0; hash < cluster.store.epochHashes(); hash++) {
                cluster.pending.raiseAgain(hash, Set.of(spec.prefix()), at);
            }
        }
    }

    /**
     * Invalidates after a rollback, as a precaution. Never raises an epoch: if Redis is away and the journal is full, the
     * invalidation is dropped.
     */
    void invalidateRolledBack(Collection<? extends CacheKey<?>> keys) {
        sendRolledBack(rolledBack.admit(keys));
    }

    /** Sends the invalidations of rollbacks that were held back and are due now. */
    void invalidateRolledBackLate() {
        sendRolledBack(rolledBack.due());
    }

    /** Leaves updates prepared, until their work cannot be committed any more. */
    void invalidateWhenClosed(Collection<? extends CacheKey<?>> keys, String token, BooleanSupplier open) {
        lateCommits.add(keys, token, open);
    }

    /** Ends the updates whose work cannot be committed any more. */
    void invalidateLateCommits() {
        lateCommits.ended().forEach(late -> invalidate(late.keys(), late.token(), late.keys()));
    }

    private void sendRolledBack(List<CacheKey<?>> keys) {
        if (keys.isEmpty()) {
            return;
        }
        keys.forEach(local::invalidate);
        store.byPartition(keys).forEach((breaker, part) -> {
            StoreUnavailableException away = sendInvalidations(part, NO_TOKEN, List.of(), pending::addIfRoom);
            part.forEach(key -> listener.onInvalidation(key, away));
        });
    }

    /**
     * @param keys of one partition
     * @param together all keys of the update, if some are elsewhere
     * @param keep takes all keys if one of them could not be delivered: they belong together
     */
    private @Nullable StoreUnavailableException sendInvalidations(
            Collection<? extends CacheKey<?>> keys,
            String token,
            List<CacheKey<?>> together,
            Consumer<List<CacheKey<?>>> keep) {
        long stamp = deliveryBarrier.readLock();
        List<CacheKey<?>> undelivered = new ArrayList<>(keys);
        try {
            while (!undelivered.isEmpty()) {
                List<CacheKey<?>> batch = undelivered.subList(0, Math.min(Batches.SIZE, undelivered.size()));
                store.invalidate(batch, token);
                recent.add(batch, together);
                batch.clear();
            }
            return null;
        } catch (StoreUnavailableException away) {
            log.debug("The invalidation of {} waits for Redis cluster '{}'", undelivered, id, away);
            return away;
        } finally {
            if (!undelivered.isEmpty()) {
                keep.accept(List.copyOf(keys));
            }
            deliveryBarrier.unlockRead(stamp);
        }
    }

    /** Returns when all who were refused before are in the journal. */
    void awaitInFlightInvalidations() {
        deliveryBarrier.unlockWrite(deliveryBarrier.writeLock());
    }

    private void refuseOrGoOn(Collection<? extends CacheKey<?>> keys, StoreUnavailableException away) {
        for (CacheKey<?> key : keys) {
            Consistency consistency = key.spec().options().consistency();
            if (!degraded.proceeds(consistency)) {
                throw new CacheUnavailableException(
                        id,
                        "The update of " + key + " is refused: Redis cluster '" + id + "' cannot be told before the"
                                + " commit, so readers elsewhere could keep the old value (consistency = " + consistency
                                + "). Repeat it when Redis is back, or let " + consistency
                                + " updates proceed without Redis.",
                        away);
            }
        }
        log.debug("Updating {} without telling Redis cluster '{}' first", keys, id, away);
    }

    /** An update that was prepared, or is in the outbox, needs no more: its lease or its message covers it. */
    private static void endInOutbox(
            OutboxWriter outbox, Collection<? extends CacheKey<?>> keys, String token, boolean undelivered) {
        if (!token.isEmpty()) {
            outbox.close(token);
        } else if (undelivered) {
            outbox.addLate(keys);
        }
    }

    private void writeToOutbox(
            Collection<? extends CacheKey<?>> keys, String token, Duration lease, boolean beforeCommit) {
        if (outbox == null) {
            return;
        }
        try {
            outbox.add(keys, token, lease, beforeCommit);
        } catch (OutboxException failed) {
            throw new CacheUnavailableException(
                    id,
                    "The update of " + keys + " is refused: Redis cluster '" + id
                            + "' cannot be told before the commit,"
                            + " and the outbox cannot be written (" + failed.getMessage() + "), so readers elsewhere"
                            + " could keep the old value. Repeat it when Redis is back, and check the outbox.",
                    failed);
        }
    }

    /** The local level is from a time in which updates of other nodes did not reach it. */
    private void onAvailability(CircuitBreakers.Change change) {
        Availability.State state = change.state();
        if (state == Availability.State.AVAILABLE) {
            limit.onAvailable();
            local.clear();
        } else {
            limit.onUnavailable();
        }
        if (change.node().isEmpty()) {
            listener.onAvailability(id, state);
        } else {
            listener.onNodeAvailability(id, change.node(), state);
        }
    }
}
