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
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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

    /** A key that Redis refuses, for example by an ACL, stays refused until someone changes that. */
    private static final Duration REFUSED_AGAIN_AFTER = Duration.ofSeconds(30);

    /** Keys that were not tried alone since too many were refused. */
    private static final Duration LEFT_OUT_AGAIN_AFTER = Duration.ofSeconds(5);

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

    /** Of those of a recovery, which must not end the preparations that stay until a second delivery. */
    private final String tokenBeforeReaders = UUID.randomUUID().toString();

    /** Messages that were delivered for the first of two times, with the ticker time. */
    private final Map<Message, Long> first = new HashMap<>();

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
        Set<CacheKey<?>> kept = new HashSet<>(keys(begun));
        kept.addAll(keysOf(firstDeliveredWithin(PREPARED)));
        Map<String, Duration> failed = keys.isEmpty() ? Map.of() : deliver(keys, kept);
        requireNotInterrupted();
        List<Due> done = new ArrayList<>(due);
        List<Due> stuck = due.stream().filter(one -> has(one, failed)).toList();
        done.removeAll(stuck);
        done.removeAll(begun);
        deliverAgain(begun.stream().filter(one -> !stuck.contains(one)).toList());
        ids(done, State.WAITING, ids -> outbox.delivered(ids, RETENTION));
        ids(done, State.OPEN, ids -> outbox.postpone(ids, AGAIN_AFTER));
        ids(done, State.EXPIRED, outbox::delete);
        // One partition that is away must not hold up the messages for the others.
        stuck.stream()
                .collect(Collectors.groupingBy(
                        one -> againAfter(one, failed),
                        Collectors.mapping(one -> one.message().id(), Collectors.toList())))
                .forEach((again, ids) -> outbox.postpone(ids, again));
        return true;
    }

    /** Some of all messages, due or not, in the order of their ids; empty if there are no more after this id. */
    List<Message> all(String after) {
        return outbox.all(delivery.clusterId(), after, MESSAGES);
    }

    /**
     * Delivers messages to the keys of one partition. Notes nothing in the outbox: its reader delivers them as well. Messages
     * that clear a cache are left to it, since each delivery drops all that was loaded meanwhile.
     *
     * @param here the keys of the partition
     * @throws StoreUnavailableException if the partition does not answer
     */
    void deliverBeforeReaders(List<Message> some, Predicate<CacheKey<?>> here) {
        List<CacheKey<?>> keys = only(keysOf(some), key -> !key.isAll() && here.test(key));
        prepare(keys, tokenBeforeReaders);
        store.byPartition(keys).forEach((breaker, partition) -> {
            OutboxInvalidation result = invalidate(breaker, partition, Set.of(), tokenBeforeReaders);
            log.debug(
                    "Delivered {} entries before readers use them, except {} refused ones and {} others",
                    partition.size(),
                    result.refused().size(),
                    result.leftOut().size());
        });
        requireNotInterrupted();
    }

    /** Until all nodes have read the epochs, one can compute an entry of a message from an older value of a cleared one. */
    private boolean isDeliveredAgain(Due due) {
        if (due.state() != State.WAITING || first.remove(due.message()) != null) {
            return false;
        }
        List<CacheKey<?>> keys = keys(List.of(due));
        return PrefixClearing.isIn(keys) && keys.stream().anyMatch(key -> !key.isAll());
    }

    private void deliverAgain(List<Due> begun) {
        if (!begun.isEmpty()) {
            outbox.postpone(begun.stream().map(one -> one.message().id()).toList(), Epochs.SEEN_BY_ALL);
            long now = ticker.nanoTime();
            first.values().removeIf(at -> now - at > FORGOTTEN.toNanos());
            begun.forEach(one -> first.put(one.message(), now));
        }
    }

    private List<Message> firstDeliveredWithin(Duration time) {
        long now = ticker.nanoTime();
        return first.entrySet().stream()
                .filter(one -> now - one.getValue() < time.toNanos())
                .map(Map.Entry::getKey)
                .toList();
    }

    private static boolean has(Due due, Map<String, Duration> failed) {
        return due.state() != State.EXPIRED && due.message().keys().stream().anyMatch(failed::containsKey);
    }

    private static Duration againAfter(Due due, Map<String, Duration> failed) {
        return due.message().keys().stream()
                .map(failed::get)
                .filter(Objects::nonNull)
                .min(Comparator.naturalOrder())
                .orElse(AGAIN_AFTER);
    }

    private static void put(Map<String, Duration> failed, Collection<CacheKey<?>> keys, Duration again) {
        keys.forEach(key -> failed.put(key.name(), again));
    }

    /**
     * @param kept stay prepared
     * @return names of keys that are not invalidated, and after which time they are due again
     * @throws StoreUnavailableException if no partition answers
     */
    private Map<String, Duration> deliver(List<CacheKey<?>> keys, Set<CacheKey<?>> kept) {
        Map<String, Duration> failed = new HashMap<>();
        List<CacheKey<?>> cleared = PrefixClearing.clearedBy(keys);
        try {
            if (!cleared.isEmpty()) {
                clearing.raise(cleared);
            }
        } catch (StoreUnavailableException away) {
            put(failed, cleared, AGAIN_AFTER);
            if (cleared.size() == keys.size()) {
                throw away;
            }
        }
        List<CacheKey<?>> entries = List.copyOf(PrefixClearing.entriesOf(keys));
        if (!entries.isEmpty()) {
            failed.putAll(invalidate(entries, kept));
        }
        log.debug(
                "Delivered {} invalidations from the outbox to Redis cluster '{}'",
                keys.size() - failed.size(),
                delivery.clusterId());
        return failed;
    }

    private Map<String, Duration> invalidate(List<CacheKey<?>> keys, Set<CacheKey<?>> kept) {
        prepare(keys, token);
        Map<String, Duration> failed = new HashMap<>();
        store.byPartition(keys).forEach((breaker, partition) -> {
            try {
                OutboxInvalidation result = invalidate(breaker, partition, kept, token);
                put(failed, result.refused(), REFUSED_AGAIN_AFTER);
                put(failed, result.leftOut(), LEFT_OUT_AGAIN_AFTER);
            } catch (StoreUnavailableException away) {
                put(failed, partition, AGAIN_AFTER);
                if (failed.size() == keys.size()) {
                    throw away;
                }
            }
        });
        return failed;
    }

    private void prepare(List<CacheKey<?>> keys, String token) {
        try {
            inParts(keys, part -> prepareUnlessRefused(part, token));
        } catch (StoreUnavailableException full) {
            // A Redis that is full prepares nothing but invalidates; one that is away does neither.
            log.debug("Redis cluster '{}' did not prepare", delivery.clusterId(), full);
        }
    }

    private void prepareUnlessRefused(List<CacheKey<?>> keys, String token) {
        try {
            store.prepare(keys, token, PREPARED);
        } catch (StoreUnavailableException failed) {
            if (!OutboxInvalidation.isOfSingleKeys(failed)) {
                throw failed;
            }
            log.debug("Some of {} could not be prepared", keys, failed);
        }
    }

    /** @throws StoreUnavailableException if the partition does not answer */
    private OutboxInvalidation invalidate(
            CircuitBreaker breaker, List<CacheKey<?>> partition, Set<CacheKey<?>> kept, String token) {
        // Readers of this node join no load that began before.
        delivery.ownUpdates().add(partition);
        OutboxInvalidation invalidation = new OutboxInvalidation(store, breaker);
        inParts(only(partition, kept::contains), part -> invalidation.invalidate(part, NO_TOKEN));
        inParts(only(partition, key -> !kept.contains(key)), part -> invalidation.invalidate(part, token));
        partition.forEach(delivery.local()::invalidate);
        delivery.recent().add(only(partition, invalidation::isDone));
        return invalidation;
    }

    /** To use an embedded database on a thread that is interrupted can close it. */
    private static void requireNotInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw StoreUnavailableException.notCalled("Interrupted while the outbox was delivered");
        }
    }

    private List<CacheKey<?>> keys(List<Due> due) {
        return keysOf(due.stream()
                .filter(one -> one.state() != State.EXPIRED)
                .map(Due::message)
                .toList());
    }

    private List<CacheKey<?>> keysOf(Collection<Message> messages) {
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
