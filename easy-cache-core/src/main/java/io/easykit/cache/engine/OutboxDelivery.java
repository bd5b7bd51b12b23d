package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.Outbox.State;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
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
 *   <li>A message that clears a cache and names entries is delivered twice, when every node has read the epochs
 *       ({@link SecondEnd}). In between its entries stay prepared. Another node that takes over delivers it twice again.
 *   <li>All due keys are prepared before the first is invalidated. Otherwise a value that is computed from
 *       another one could be built from that one's old value in between.
 * </ul>
 */
final class OutboxDelivery {

    /** Delivered messages are kept this long: a master can lose acknowledged writes. */
    static final Duration RETENTION = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(OutboxDelivery.class);
    private static final String NO_TOKEN = "";
    private static final int MESSAGES = 200;
    private static final int KEYS = 100;

    /** Open messages, and those that could not be delivered, are due again after this time. */
    private static final Duration AGAIN_AFTER = Duration.ofSeconds(1);

    /** For the time between preparing and invalidating in one delivery, or in two. */
    private static final Duration PREPARED = Duration.ofSeconds(10);

    /** A message whose second delivery is later than this begins again. */
    private static final Duration FORGOTTEN = Duration.ofMinutes(1);

    private final InvalidationDelivery delivery;
    private final PrefixClearing clearing;
    private final GuardedStore store;
    private final Outbox outbox;
    private final Ticker ticker;

    /** Of the preparations. One that stays is renewed, and removed, by the second delivery. */
    private final String token = UUID.randomUUID().toString();

    /** Ids of messages that were delivered for the first time, with the ticker time. */
    private final Map<String, Long> first = new HashMap<>();

    private boolean warnedOfUnreadable;

    OutboxDelivery(InvalidationDelivery delivery, PrefixClearing clearing, Outbox outbox, Ticker ticker) {
        this.delivery = delivery;
        this.clearing = clearing;
        this.store = delivery.store();
        this.outbox = outbox;
        this.ticker = ticker;
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
        List<Due> begun = due.stream().filter(this::isDeliveredAgain).toList();
        Set<CacheKey<?>> failed = keys.isEmpty() ? Set.of() : deliver(keys, Set.copyOf(keys(begun)));
        List<Due> done = new ArrayList<>(due);
        List<Due> stuck = due.stream().filter(one -> has(one, failed)).toList();
        done.removeAll(stuck);
        done.removeAll(begun);
        ids(begun.stream().filter(one -> !stuck.contains(one)).toList(), State.WAITING, this::deliverAgain);
        ids(done, State.WAITING, ids -> outbox.delivered(ids, RETENTION));
        ids(done, State.OPEN, ids -> outbox.postpone(ids, AGAIN_AFTER));
        ids(done, State.EXPIRED, outbox::delete);
        // One partition that is away must not hold up the messages for the others.
        ids(stuck, State.WAITING, ids -> outbox.postpone(ids, AGAIN_AFTER));
        ids(stuck, State.OPEN, ids -> outbox.postpone(ids, AGAIN_AFTER));
        return true;
    }

    /**
     * Delivers all messages to the keys of one partition, whether they are due or not. Notes nothing in the outbox: its reader
     * delivers them as well. Messages that clear a cache are left to it, since each delivery drops all that was loaded
     * meanwhile.
     *
     * @param here the keys of the partition
     * @throws StoreUnavailableException if the partition does not answer
     */
    void deliverAll(Predicate<CacheKey<?>> here) {
        List<Message> some = outbox.all(delivery.clusterId(), "", MESSAGES);
        while (!some.isEmpty()) {
            List<CacheKey<?>> keys = only(keysOf(some), key -> !key.isAll() && here.test(key));
            if (!keys.isEmpty()) {
                invalidateUnlessRefused(keys);
            }
            String last = some.get(some.size() - 1).id();
            some = outbox.all(delivery.clusterId(), last, MESSAGES);
        }
    }

    /** An entry that Redis refuses to this client must not keep all others away for good. */
    private void invalidateUnlessRefused(List<CacheKey<?>> keys) {
        try {
            invalidate(keys, Set.of());
        } catch (StoreUnavailableException away) {
            if (away.isServerFailure() || away.isRefused() || away.isDelayed()) {
                throw away;
            }
            log.debug("Some of {} could not be invalidated", keys, away);
        }
    }

    /** Until all nodes have read the epochs, one can compute an entry of a message from an older value of a cleared one. */
    private boolean isDeliveredAgain(Due due) {
        if (due.state() != State.WAITING || first.remove(due.message().id()) != null) {
            return false;
        }
        List<CacheKey<?>> keys = keys(List.of(due));
        return PrefixClearing.isIn(keys) && keys.stream().anyMatch(key -> !key.isAll());
    }

    private void deliverAgain(Collection<String> ids) {
        outbox.postpone(ids, Epochs.SEEN_BY_ALL);
        long now = ticker.nanoTime();
        first.values().removeIf(at -> now - at > FORGOTTEN.toNanos());
        ids.forEach(id -> first.put(id, now));
    }

    private static boolean has(Due due, Set<CacheKey<?>> failed) {
        return due.state() != State.EXPIRED
                && failed.stream().anyMatch(key -> due.message().keys().contains(key.name()));
    }

    /**
     * @param kept stay prepared
     * @return keys of partitions that do not answer
     * @throws StoreUnavailableException if none answers
     */
    private Set<CacheKey<?>> deliver(List<CacheKey<?>> keys, Set<CacheKey<?>> kept) {
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
            failed.addAll(invalidate(entries, kept));
        }
        log.debug(
                "Delivered {} invalidations from the outbox to Redis cluster '{}'",
                keys.size() - failed.size(),
                delivery.clusterId());
        return failed;
    }

    private Set<CacheKey<?>> invalidate(List<CacheKey<?>> keys, Set<CacheKey<?>> kept) {
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
                inParts(only(partition, kept::contains), part -> store.invalidateNow(part, NO_TOKEN));
                inParts(only(partition, key -> !kept.contains(key)), part -> store.invalidateNow(part, token));
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
        return keysOf(due.stream()
                .filter(one -> one.state() != State.EXPIRED)
                .map(Due::message)
                .toList());
    }

    private List<CacheKey<?>> keysOf(List<Message> messages) {
        Set<CacheKey<?>> keys = new LinkedHashSet<>();
        for (Message message : messages) {
            message.keys().forEach(name -> addKey(keys, name, message));
        }
        return List.copyOf(keys);
    }

    private void addKey(Set<CacheKey<?>> keys, String name, Message message) {
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

    private static List<CacheKey<?>> only(List<CacheKey<?>> keys, Predicate<CacheKey<?>> which) {
        return keys.stream().filter(which).toList();
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
