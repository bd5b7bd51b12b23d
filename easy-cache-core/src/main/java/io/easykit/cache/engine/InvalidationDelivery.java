package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends invalidations to one Redis, and keeps those that fail for a later delivery. */
final class InvalidationDelivery {

    private static final Logger log = LoggerFactory.getLogger(InvalidationDelivery.class);

    private static final String NO_TOKEN = "";

    private final String id;
    private final GuardedStore store;
    private final LocalEntries local;
    private final CacheListener listener;
    private final PendingInvalidations pending;
    private final RecentInvalidations recent;
    private final RolledBackUpdates rolledBack;
    private final OwnUpdates ownUpdates;
    private final InFlightInvalidations inFlight;

    InvalidationDelivery(String id, GuardedStore store, LocalEntries local, int maxPending, EngineContext engine) {
        this.id = id;
        this.store = store;
        this.local = local;
        this.listener = engine.listener();
        this.ownUpdates = new OwnUpdates(engine.ticker());
        this.pending = new PendingInvalidations(maxPending, store, store.availability()::partitions, ownUpdates);
        this.recent = store.recent();
        this.rolledBack = new RolledBackUpdates(engine.ticker());
        this.inFlight = new InFlightInvalidations(engine.ticker());
    }

    String clusterId() {
        return id;
    }

    GuardedStore store() {
        return store;
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

    OwnUpdates ownUpdates() {
        return ownUpdates;
    }

    InFlightInvalidations inFlight() {
        return inFlight;
    }

    /**
     * Ends an update; what cannot be delivered now is delivered before the cluster is read again.
     *
     * @param update all keys of the update, in this cluster and in others
     * @param retry takes the breaker of a partition that may be called, although a delivery to it failed
     * @return those that were delivered
     */
    List<CacheKey<?>> invalidate(
            Collection<? extends CacheKey<?>> keys,
            String token,
            Collection<? extends CacheKey<?>> update,
            Consumer<CircuitBreaker> retry) {
        ownUpdates.add(keys);
        keys.forEach(local::invalidate);
        Map<CircuitBreaker, List<CacheKey<?>>> parts = store.byPartition(keys);
        List<CacheKey<?>> together = parts.size() > 1 || update.size() > keys.size() ? List.copyOf(update) : List.of();
        List<CacheKey<?>> delivered = new ArrayList<>();
        try {
            AllCalls.forEach(parts, (breaker, part) -> {
                StoreUnavailableException away = inFlight.run(
                        part,
                        () -> sendInvalidations(
                                breaker,
                                part,
                                token,
                                together,
                                undelivered -> pending.add(undelivered, token, together)));
                part.forEach(key -> listener.onInvalidation(key, away));
                if (away == null) {
                    delivered.addAll(part);
                } else if (breaker.mayWrite()) {
                    retry.accept(breaker);
                }
            });
        } finally {
            ownUpdates.add(keys);
        }
        return delivered;
    }

    /** Drops values that were stored since the keys were invalidated. */
    void invalidateAgain(List<CacheKey<?>> keys) {
        invalidateAgain(keys, NO_TOKEN);
    }

    void invalidateAgain(List<CacheKey<?>> keys, String token) {
        keys.forEach(local::invalidate);
        try {
            AllCalls.forEach(
                    store.byPartition(keys),
                    (breaker, part) -> inFlight.run(part, () -> sendAgain(breaker, part, token)));
        } finally {
            ownUpdates.add(keys);
        }
    }

    private boolean sendAgain(CircuitBreaker breaker, List<CacheKey<?>> keys, String token) {
        boolean sent = false;
        try {
            for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(keys)) {
                // Before the command, see below.
                if (breaker.mayWrite()) {
                    recent.addRepeated(batch);
                }
                store.invalidateNow(batch, token);
                recent.addRepeated(batch);
            }
            sent = true;
        } catch (StoreUnavailableException away) {
            log.debug("{} are kept to be invalidated again", keys, away);
        } finally {
            if (!sent) {
                pending.add(keys, NO_TOKEN);
            }
        }
        return sent;
    }

    /**
     * Invalidates after a rollback, as a precaution. Never raises an epoch: if Redis is away and no further invalidation can be kept, the
     * invalidation is dropped. Keys that are held back are dropped from the local level at once.
     */
    void invalidateRolledBack(Collection<? extends CacheKey<?>> keys) {
        ownUpdates.add(keys);
        keys.forEach(local::invalidate);
        sendRolledBack(rolledBack.admit(keys));
    }

    /** Sends the invalidations of rollbacks that were held back and are due now. */
    void invalidateRolledBackLate() {
        sendRolledBack(rolledBack.due());
    }

    /** Leaves those that are held back to the delivery of pending ones, because no worker sends them when they are due. */
    void keepRolledBack() {
        pending.addIfRoom(rolledBack.rest());
    }

    private void sendRolledBack(List<CacheKey<?>> keys) {
        if (keys.isEmpty()) {
            return;
        }
        ownUpdates.add(keys);
        keys.forEach(local::invalidate);
        try {
            AllCalls.forEach(store.byPartition(keys), (breaker, part) -> {
                StoreUnavailableException away = inFlight.run(
                        part, () -> sendInvalidations(breaker, part, NO_TOKEN, List.of(), pending::addIfRoom));
                part.forEach(key -> listener.onInvalidation(key, away));
            });
        } finally {
            ownUpdates.add(keys);
        }
    }

    /**
     * @param breaker that of the partition
     * @param keys of one partition
     * @param together all keys of the update, if some are elsewhere
     * @param keep takes all keys if one of them could not be delivered: they belong together
     */
    private @Nullable StoreUnavailableException sendInvalidations(
            CircuitBreaker breaker,
            Collection<? extends CacheKey<?>> keys,
            String token,
            List<CacheKey<?>> together,
            Consumer<List<CacheKey<?>>> keep) {
        List<CacheKey<?>> undelivered = new ArrayList<>(keys);
        try {
            while (!undelivered.isEmpty()) {
                List<CacheKey<?>> batch = undelivered.subList(0, Math.min(Batches.SIZE, undelivered.size()));
                remember(breaker, batch, together);
                store.invalidate(batch, token);
                recent.add(batch, together);
                batch.clear();
            }
            return null;
        } catch (StoreUnavailableException away) {
            log.debug("The invalidation of {} waits for Redis '{}'", undelivered, id, away);
            return away;
        } finally {
            if (!undelivered.isEmpty()) {
                keep.accept(List.copyOf(keys));
            }
        }
    }

    /**
     * Comes before the command. A repetition that runs before the reply is used includes these keys: the server that acknowledges
     * them may be the one that is lost. While the partition is unavailable they are only pending.
     */
    private void remember(CircuitBreaker breaker, List<CacheKey<?>> batch, List<CacheKey<?>> together) {
        if (breaker.mayWrite()) {
            recent.add(batch, together);
        }
    }
}
