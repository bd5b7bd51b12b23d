package io.easykit.cache;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.StampedLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One Redis at work: how it is read and told of updates, and what is kept for it while it is away. */
final class Cluster {

    private static final Logger log = LoggerFactory.getLogger(Cluster.class);

    /** A failover, and the time until enough calls have failed, fit into it. */
    private static final Duration KEEP_RECENT = Duration.ofSeconds(30);

    private static final int MOST_RECENT = 50_000;

    private final String id;
    private final DegradedOptions degraded;
    private final CacheListener listener;
    private final Availability availability;
    private final EntryStore store;
    private final Epochs epochs;
    private final LocalEntries local;
    private final Journal journal;
    private final RecentInvalidations recent;
    private final RolledBackUpdates rolledBack;
    private final LateCommits lateCommits;
    private final OwnUpdates ownUpdates;
    private final LoadLimit limit;
    private final CacheReader reader;
    private final Redelivery redelivery;
    private final StoppedCluster afterStop;
    private final ClusterKeeper keeper;
    private final @Nullable OutboxWriter outbox;
    private final @Nullable OutboxRelay relay;
    private final Transactions transactions;
    private final Ticker ticker;

    /** Held in common by those who tell the store of an invalidation or, failing that, the journal. */
    private final StampedLock telling = new StampedLock();

    Cluster(
            String id,
            EntryStore store,
            LocalLevel level,
            AvailabilityOptions options,
            DegradedOptions degraded,
            @Nullable Outbox outbox,
            Engine engine) {
        this.id = id;
        this.degraded = degraded;
        this.listener = engine.listener();
        this.journal = new Journal(degraded.journalSize());
        this.recent = new RecentInvalidations(KEEP_RECENT, MOST_RECENT, engine.ticker());
        this.rolledBack = new RolledBackUpdates(engine.ticker());
        this.lateCommits = new LateCommits(engine.ticker());
        this.ownUpdates = new OwnUpdates(engine.ticker());
        this.availability = new Availability(id, options, engine.ticker(), this::onAvailability);
        this.store = new GuardedStore(store, availability);
        this.epochs = new Epochs(this.store::epochs);
        this.local = new LocalEntries(level, engine.values(), degraded.localLife());
        Freshness freshness = new Freshness(ownUpdates, journal);
        this.limit = new LoadLimit(degraded.concurrentLoads(), engine.ticker());
        CacheDispatcher dispatcher = new CacheDispatcher(this.store, epochs, freshness, limit, engine);
        this.reader = new DegradingReader(id, dispatcher, freshness, local, degraded, limit, engine);
        this.redelivery = new Redelivery(this.store, recent);
        this.afterStop = new StoppedCluster(id, store, journal, recent, outbox != null, engine.ticker());
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
        this.keeper = new ClusterKeeper(this, options, engine.ticker());
        this.outbox = outbox == null ? null : new OutboxWriter(id, outbox);
        this.relay = outbox == null ? null : new OutboxRelay(this, outbox, engine.ticker());
    }

    void start() {
        keeper.start();
        if (relay != null) {
            relay.start();
        }
    }

    void stop() {
        if (relay != null) {
            relay.stop();
        }
        keeper.stop();
    }

    String id() {
        return id;
    }

    EntryStore store() {
        return store;
    }

    Availability availability() {
        return availability;
    }

    Epochs epochs() {
        return epochs;
    }

    LocalEntries local() {
        return local;
    }

    Journal journal() {
        return journal;
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

    ClusterKeeper keeper() {
        return keeper;
    }

    /** Null without an outbox. */
    @Nullable OutboxRelay relay() {
        return relay;
    }

    /**
     * Announces an update. If Redis does not acknowledge that in time, the update goes on with a message in the outbox, or
     * is refused.
     *
     * @param beforeCommit whether the transaction of this thread is about to commit
     * @throws CacheUnavailableException if it is refused
     */
    void prepare(Collection<? extends CacheKey<?>> keys, String token, Duration lease, boolean beforeCommit) {
        try {
            prepareInBatches(store, keys, token, lease);
        } catch (StoreUnavailableException away) {
            boolean late = afterStop.isStopped()
                    && afterStop.prepare(reopened -> prepareInBatches(reopened, keys, token, lease));
            if (!late) {
                refuseOrGoOn(keys, away);
                writeToOutbox(keys, token, lease, beforeCommit);
            }
        }
    }

    /** Each batch has a command timeout of its own; all of them together have the time of the transaction. */
    private void prepareInBatches(EntryStore to, Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        Duration left = keys.size() > Batches.SIZE ? transactions.timeout() : null;
        long began = ticker.nanoTime();
        for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(keys)) {
            if (left != null && ticker.nanoTime() - began >= left.toNanos()) {
                throw new StoreUnavailableException(
                        "The transaction's time is over before all of its " + keys.size() + " keys were prepared",
                        false,
                        null);
            }
            to.prepare(batch, token, lease);
        }
    }

    /** Announces an invalidation whose data have changed already. False if Redis could not be told. */
    boolean announce(Collection<? extends CacheKey<?>> keys, String token, Duration lease) {
        try {
            prepareInBatches(store, keys, token, lease);
            return true;
        } catch (StoreUnavailableException away) {
            log.debug("The invalidation of {} could not be announced to Redis cluster '{}'", keys, id, away);
            return false;
        }
    }

    /** Ends an update; what cannot be delivered now is delivered before the cluster is read again. */
    void invalidate(Collection<? extends CacheKey<?>> keys, String token) {
        ownUpdates.add(keys);
        keys.forEach(local::invalidate);
        StoreUnavailableException away = tell(keys, token, untold -> journal.add(untold, token));
        ownUpdates.add(keys);
        keys.forEach(key -> listener.onInvalidation(key, away));
        if (outbox != null) {
            endInOutbox(outbox, keys, token, away != null);
        }
        if (away != null && afterStop.isStopped()) {
            afterStop.deliver();
        } else if (away != null && availability.mayWrite()) {
            keeper.deliverSoon();
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
        lateCommits.ended().forEach(late -> invalidate(late.keys(), late.token()));
    }

    private void sendRolledBack(List<CacheKey<?>> keys) {
        if (keys.isEmpty()) {
            return;
        }
        keys.forEach(local::invalidate);
        StoreUnavailableException away = tell(keys, "", journal::addIfRoom);
        keys.forEach(key -> listener.onInvalidation(key, away));
    }

    /**
     * @param keep takes all keys if one of them could not be delivered: they belong together
     */
    private @Nullable StoreUnavailableException tell(
            Collection<? extends CacheKey<?>> keys, String token, Consumer<List<CacheKey<?>>> keep) {
        long stamp = telling.readLock();
        List<CacheKey<?>> untold = new ArrayList<>(keys);
        try {
            while (!untold.isEmpty()) {
                List<CacheKey<?>> batch = untold.subList(0, Math.min(Batches.SIZE, untold.size()));
                store.invalidate(batch, token);
                recent.add(batch);
                batch.clear();
            }
            return null;
        } catch (StoreUnavailableException away) {
            log.debug("The invalidation of {} waits for Redis cluster '{}'", untold, id, away);
            return away;
        } finally {
            if (!untold.isEmpty()) {
                keep.accept(List.copyOf(keys));
            }
            telling.unlockRead(stamp);
        }
    }

    /** Returns when all who were refused before are in the journal. */
    void awaitTold() {
        telling.unlockWrite(telling.writeLock());
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
            OutboxWriter outbox, Collection<? extends CacheKey<?>> keys, String token, boolean untold) {
        if (!token.isEmpty()) {
            outbox.close(token);
        } else if (untold) {
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

    /** What the local level has is of a time when nobody told it of other nodes' updates. */
    private void onAvailability(Availability.State state) {
        if (state == Availability.State.AVAILABLE) {
            limit.onAvailable();
            local.clear();
        } else {
            limit.onUnavailable();
        }
        listener.onAvailability(id, state);
    }
}
