package io.easykit.cache.engine;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.Transactions;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.type.VisibleText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Prepares updates in one Redis before their commit. If Redis does not reply, the outbox records them, or they are refused. */
final class UpdatePreparation {

    private static final Logger log = LoggerFactory.getLogger(UpdatePreparation.class);

    private final String id;
    private final GuardedStore store;
    private final DegradedOptions degraded;
    private final StoppedCluster afterStop;
    private final @Nullable OutboxWriter outbox;
    private final MarkRenewals renewals;
    private final Transactions transactions;
    private final Ticker ticker;

    UpdatePreparation(
            String id,
            GuardedStore store,
            DegradedOptions degraded,
            StoppedCluster afterStop,
            @Nullable OutboxWriter outbox,
            EngineContext engine) {
        this.id = id;
        this.store = store;
        this.degraded = degraded;
        this.afterStop = afterStop;
        this.outbox = outbox;
        this.transactions = engine.transactions();
        this.ticker = engine.ticker();
        this.renewals = new MarkRenewals(ticker);
    }

    /**
     * How long an update stays prepared.
     *
     * @param clearing of the keys that stand for all entries
     * @param entries of the others; not shorter
     */
    record Leases(Duration clearing, Duration entries) {

        static Leases of(Duration lease) {
            return new Leases(lease, lease);
        }

        /** Of an update that clears a cache. See {@link PrefixClearing#REPAIR}. */
        static Leases ofClearing(Duration lease) {
            return new Leases(lease, lease.plus(PrefixClearing.REPAIR));
        }

        /** The time for which all of it stays prepared. */
        Duration ofAll() {
            return clearing;
        }
    }

    /**
     * Prepares an update. What Redis does not acknowledge in time goes on with a message in the outbox, or the update is
     * refused.
     *
     * @param together these keys and those that were prepared before: a message names all of them
     * @param beforeCommit whether the transaction of this thread is about to commit
     * @return whether all keys are prepared
     * @throws CacheUnavailableException if it is refused
     */
    boolean prepare(
            Collection<? extends CacheKey<?>> keys,
            Collection<? extends CacheKey<?>> together,
            String token,
            Leases leases,
            boolean beforeCommit) {
        Map<CircuitBreaker, List<CacheKey<?>>> parts = store.byPartition(PrefixClearing.entriesOf(keys));
        TimeLeft time = new TimeLeft(keys.size());
        List<CacheKey<?>> undelivered = new ArrayList<>();
        long sentAt = ticker.nanoTime();
        List<CacheKey<?>> cleared = PrefixClearing.clearedBy(keys);
        if (!cleared.isEmpty() && !prepare(cleared, token, leases, time)) {
            undelivered.addAll(cleared);
        }
        for (List<CacheKey<?>> part : parts.values()) {
            if (!prepare(part, token, leases, time)) {
                undelivered.addAll(part);
            }
        }
        if (undelivered.size() < keys.size()) {
            cover(keys, token, leases, sentAt);
        }
        if (!undelivered.isEmpty()) {
            // All: until the others are delivered, an entry that is prepared can be computed from an old value of them
            // again.
            writeToOutbox(together, token, leases, beforeCommit);
        }
        return undelivered.isEmpty();
    }

    /**
     * Called before anything is sent, so that an update that one partition refuses does not cost the values in the others.
     *
     * @throws CacheUnavailableException if the update is refused, because a partition of its keys is marked unavailable
     */
    void refuseIfUnavailable(Collection<? extends CacheKey<?>> keys) {
        if (store.availability().state() == State.AVAILABLE || afterStop.isStopped()) {
            return;
        }
        store.byPartition(PrefixClearing.entriesOf(keys)).forEach(this::refuseIfUnavailable);
        List<CacheKey<?>> cleared = PrefixClearing.clearedBy(keys);
        if (!cleared.isEmpty()) {
            for (int hash = 0; hash < store.epochHashes(); hash++) {
                refuseIfUnavailable(store.availability().ofEpochs(hash), cleared);
            }
        }
    }

    private void refuseIfUnavailable(CircuitBreaker breaker, Collection<? extends CacheKey<?>> keys) {
        if (!breaker.mayWrite()) {
            refuseOrGoOn(keys, CircuitBreaker.markedUnavailable());
        }
    }

    private boolean prepare(List<CacheKey<?>> keys, String token, Leases leases, TimeLeft time) {
        try {
            prepareInBatches(store, keys, token, leases, time);
            return true;
        } catch (StoreUnavailableException away) {
            boolean late = afterStop.isStopped()
                    && afterStop.prepare(reopened -> prepareInBatches(reopened, keys, token, leases, time));
            if (!late) {
                refuseOrGoOn(keys, away);
            }
            return late;
        }
    }

    /** Each batch has a command timeout of its own; all of them together have the time of the transaction. */
    private void prepareInBatches(
            EntryStore to, Collection<? extends CacheKey<?>> keys, String token, Leases leases, TimeLeft time) {
        List<CacheKey<?>> cleared = PrefixClearing.clearedBy(keys);
        if (!cleared.isEmpty()) {
            PrefixClearing.prepare(to, cleared, token, leases.clearing, ticker);
        }
        for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(PrefixClearing.entriesOf(keys))) {
            time.check();
            to.prepare(batch, token, leases.entries);
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
                        "The transaction timed out before all of its " + keys
                                + " keys were prepared. Raise its timeout, or"
                                + " update fewer keys in one transaction",
                        false,
                        null);
            }
        }
    }

    /** Prepares an update whose data may have changed already. Returns false if Redis did not acknowledge all of it. */
    boolean prepareLate(Collection<? extends CacheKey<?>> keys, String token, Leases leases) {
        long sentAt = ticker.nanoTime();
        boolean prepared = prepareAgain(keys, token, leases);
        if (prepared) {
            cover(keys, token, leases, sentAt);
        }
        return prepared;
    }

    /** As {@link #prepareLate}, for an update that has no other mark. Without this one its end is written to the outbox. */
    boolean prepareEnded(Collection<? extends CacheKey<?>> keys, String token, Leases leases) {
        boolean prepared = false;
        try {
            prepared = prepareLate(keys, token, leases) || prepareStopped(keys, token, leases);
        } finally {
            if (!prepared && outbox != null) {
                outbox.notPrepared(keys, token);
            }
        }
        return prepared;
    }

    private boolean prepareStopped(Collection<? extends CacheKey<?>> keys, String token, Leases leases) {
        long sentAt = ticker.nanoTime();
        boolean prepared = afterStop.isStopped()
                && afterStop.prepareOnce(
                        reopened -> prepareInBatches(reopened, keys, token, leases, new TimeLeft(keys.size())));
        if (prepared) {
            cover(keys, token, leases, sentAt);
        }
        return prepared;
    }

    private void cover(Collection<? extends CacheKey<?>> keys, String token, Leases leases, long sentAt) {
        if (outbox != null) {
            outbox.prepared(keys, token, leases.ofAll(), sentAt);
        }
    }

    /** As {@link #prepareLate}, for invalidations that are repeated. A key or a partition that fails keeps no others back. */
    boolean prepareAgain(Collection<? extends CacheKey<?>> keys, String token, Leases leases) {
        TimeLeft time = new TimeLeft(keys.size());
        List<CacheKey<?>> cleared = PrefixClearing.clearedBy(keys);
        boolean prepared = cleared.isEmpty() || prepareAgain(List.of(cleared), token, leases, time);
        for (List<CacheKey<?>> part :
                store.byPartition(PrefixClearing.entriesOf(keys)).values()) {
            prepared &= prepareAgain(Batches.<CacheKey<?>>of(part), token, leases, time);
        }
        return prepared;
    }

    private boolean prepareAgain(List<List<CacheKey<?>>> batches, String token, Leases leases, TimeLeft time) {
        boolean prepared = true;
        for (List<CacheKey<?>> batch : batches) {
            try {
                prepareInBatches(store, batch, token, leases, time);
            } catch (StoreUnavailableException away) {
                log.debug("The update of {} could not be prepared in Redis '{}'", batch, id, away);
                prepared = false;
                if (!away.isOfSingleKey()) {
                    break;
                }
            }
        }
        return prepared;
    }

    /** Prepares an update again while its action runs. See {@link MarkRenewals}. */
    MarkRenewals.Renewal renew(Collection<? extends CacheKey<?>> keys, String token, Leases leases) {
        return renewals.start(leases.ofAll(), () -> prepareLate(keys, token, leases));
    }

    MarkRenewals renewals() {
        return renewals;
    }

    private void refuseOrGoOn(Collection<? extends CacheKey<?>> keys, StoreUnavailableException away) {
        for (CacheKey<?> key : keys) {
            Consistency consistency = key.spec().options().consistency();
            if (!degraded.proceeds(consistency)) {
                throw new CacheUnavailableException(
                        id,
                        "The update of " + key + " is refused: Redis '" + id
                                + "' cannot be prepared for it before"
                                + " the commit, so other nodes could go on to return the old value (consistency = "
                                + consistency + "). Repeat it when Redis is back, or set 'easy-cache.degraded."
                                + consistency.name().toLowerCase(Locale.ROOT) + "-updates' to proceed.",
                        away);
            }
        }
        log.debug("Updating {} without preparing Redis '{}' for it", keys, id, away);
    }

    /**
     * Adds a message, where there is an outbox.
     *
     * @throws CacheUnavailableException if that fails: the update is refused
     */
    void writeToOutbox(Collection<? extends CacheKey<?>> keys, String token, Leases leases, boolean beforeCommit) {
        if (outbox == null) {
            return;
        }
        try {
            outbox.add(keys, token, leases.ofAll(), beforeCommit);
        } catch (OutboxException failed) {
            throw new CacheUnavailableException(
                    id,
                    "The update of " + VisibleText.list(keys) + " is refused: Redis '" + id
                            + "' cannot be prepared for it before the commit, and the outbox cannot be written ("
                            + failed.getMessage() + "), so other nodes could go on to return the old value."
                            + " Repeat it when Redis is back, and check the outbox.",
                    failed);
        }
    }
}
