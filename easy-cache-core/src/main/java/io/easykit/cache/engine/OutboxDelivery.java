package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.State;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers due messages of the outbox to one Redis: invalidates their keys, and notes in the outbox what became of them.
 *
 * <ul>
 *   <li>A message that was part of a transaction is visible after its commit only. So its data have changed, and
 *       a value that is loaded after the delivery is new. A value that was loaded before cannot be stored after it, since an
 *       invalidation removes fencing tokens.
 *   <li>A message that was committed before its update is open while the update may still be running: a reader could load the
 *       old value after a delivery and store it. It is delivered in each round, until it is closed or its lease is over,
 *       and then once more.
 *   <li>The old value is dropped at once: its stale window began with the update, and is over by now.
 *   <li>All due keys are prepared before the first is invalidated. Otherwise a value that is computed from
 *       another one could be built from that one's old value in between.
 * </ul>
 */
final class OutboxDelivery {

    /** Delivered messages are kept this long: a master can lose acknowledged writes. */
    static final Duration RETENTION = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(OutboxDelivery.class);
    private static final int MESSAGES = 200;
    private static final int KEYS = 100;

    /** Open messages, and those that could not be delivered, are due again after this time. */
    private static final Duration AGAIN_AFTER = Duration.ofSeconds(1);

    /** For the time between preparing and invalidating in one delivery. */
    private static final Duration PREPARED = Duration.ofSeconds(10);

    private final InvalidationDelivery delivery;
    private final PrefixClearing clearing;
    private final GuardedStore store;
    private final Outbox outbox;
    private boolean warnedOfUnreadable;

    OutboxDelivery(InvalidationDelivery delivery, PrefixClearing clearing, Outbox outbox) {
        this.delivery = delivery;
        this.clearing = clearing;
        this.store = delivery.store();
        this.outbox = outbox;
    }

    /**
     * Delivers some of the due messages.
     *
     * @return whether there were any
     * @throws StoreUnavailableException if Redis does not answer
     */
    boolean deliverSome() {
        List<Due> due = outbox.due(delivery.clusterId(), MESSAGES);
        if (due.isEmpty()) {
            return false;
        }
        List<CacheKey<?>> keys = keys(due);
        Set<CacheKey<?>> failed = keys.isEmpty() ? Set.of() : deliver(keys);
        List<Due> done = new ArrayList<>(due);
        List<Due> stuck = due.stream().filter(one -> has(one, failed)).toList();
        done.removeAll(stuck);
        ids(done, State.WAITING, ids -> outbox.delivered(ids, RETENTION));
        ids(done, State.OPEN, ids -> outbox.postpone(ids, AGAIN_AFTER));
        ids(done, State.EXPIRED, outbox::delete);
        // One partition that is away must not hold up the messages for the others.
        ids(stuck, State.WAITING, ids -> outbox.postpone(ids, AGAIN_AFTER));
        ids(stuck, State.OPEN, ids -> outbox.postpone(ids, AGAIN_AFTER));
        return true;
    }

    private static boolean has(Due due, Set<CacheKey<?>> failed) {
        return due.state() != State.EXPIRED
                && failed.stream().anyMatch(key -> due.message().keys().contains(key.name()));
    }

    /**
     * @return keys of partitions that do not answer
     * @throws StoreUnavailableException if none answers
     */
    private Set<CacheKey<?>> deliver(List<CacheKey<?>> keys) {
        Set<CacheKey<?>> failed = new HashSet<>();
        List<CacheKey<?>> cleared = PrefixClearing.clearedBy(keys);
        try {
            if (!cleared.isEmpty()) {
                clearing.raise(cleared);
            }
        } catch (StoreUnavailableException away) {
            failed.addAll(cleared);
            if (cleared.size() == keys.size()) {
                throw away;
            }
        }
        List<CacheKey<?>> entries = List.copyOf(PrefixClearing.entriesOf(keys));
        if (!entries.isEmpty()) {
            failed.addAll(invalidate(entries));
        }
        log.debug(
                "Delivered {} invalidations from the outbox to Redis cluster '{}'",
                keys.size() - failed.size(),
                delivery.clusterId());
        return failed;
    }

    private Set<CacheKey<?>> invalidate(List<CacheKey<?>> keys) {
        String token = UUID.randomUUID().toString();
        try {
            inParts(keys, part -> store.prepare(part, token, PREPARED));
        } catch (StoreUnavailableException full) {
            // A Redis that is full prepares nothing but invalidates; one that is away does neither.
            log.debug("Redis cluster '{}' did not prepare", delivery.clusterId(), full);
        }
        Set<CacheKey<?>> failed = new HashSet<>();
        for (List<CacheKey<?>> partition : store.byPartition(keys).values()) {
            try {
                // Readers of this node join no load that began before.
                delivery.ownUpdates().add(partition);
                inParts(partition, part -> store.invalidateNow(part, token));
                partition.forEach(delivery.local()::invalidate);
                delivery.recent().add(partition);
            } catch (StoreUnavailableException away) {
                failed.addAll(partition);
                if (failed.size() == keys.size()) {
                    throw away;
                }
            }
        }
        return failed;
    }

    private List<CacheKey<?>> keys(List<Due> due) {
        Set<CacheKey<?>> keys = new LinkedHashSet<>();
        for (Due one : due) {
            if (one.state() != State.EXPIRED) {
                one.message().keys().forEach(name -> addKey(keys, name, one.message()));
            }
        }
        return List.copyOf(keys);
    }

    private void addKey(Set<CacheKey<?>> keys, String name, Outbox.Message message) {
        try {
            keys.add(CacheKey.named(delivery.clusterId(), name));
        } catch (InvalidCacheKeyException unreadable) {
            if (!warnedOfUnreadable) {
                warnedOfUnreadable = true;
                log.warn(
                        "Message {} in the outbox names no entry: '{}'. It is skipped; further ones are skipped without a log"
                                + " line. Check which other program writes to that table.",
                        message.id(),
                        name);
            }
        }
    }

    private static void inParts(List<CacheKey<?>> keys, Consumer<List<CacheKey<?>>> action) {
        for (int from = 0; from < keys.size(); from += KEYS) {
            action.accept(keys.subList(from, Math.min(from + KEYS, keys.size())));
        }
    }

    private static void ids(List<Due> due, State state, Consumer<Collection<String>> action) {
        List<String> ids = due.stream()
                .filter(one -> one.state() == state)
                .map(one -> one.message().id())
                .toList();
        if (!ids.isEmpty()) {
            action.accept(ids);
        }
    }
}
