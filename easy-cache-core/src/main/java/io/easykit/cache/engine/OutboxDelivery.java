package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.State;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers due messages of the outbox to one Redis: invalidates their keys, and notes the results in the outbox.
 *
 * <ul>
 *   <li>A message that was part of a transaction is visible after its commit only. So its data have changed, and
 *       a value that is loaded after the delivery is new. A value that was loaded before cannot be stored after it, since an
 *       invalidation removes fencing tokens.
 *   <li>A message that was committed before its update is open while the update may still be running: a reader could load the
 *       old value after a delivery and store it. It is delivered in each round, until it is closed or its lease is over,
 *       and then once more.
 *   <li>A message for masters of which some are marked unavailable waits after a delivery to the others, and is delivered to all
 *       when one of those is back ({@link PartlyDelivered}).
 *   <li>The old value is dropped at once: its stale window began with the update, and is over by now.
 *   <li>A message that clears a cache and names entries is delivered twice, when every node has read the epochs
 *       ({@link SecondEnd}). In between its entries stay prepared. Another node that takes over delivers it twice again.
 *   <li>All due keys are prepared before the first is invalidated. Otherwise a value that is computed from
 *       another one could be built from that one's old value in between. A call that fails because of single keys prepares
 *       none of its partition. If a master invalidates what it has not prepared, all keys are invalidated twice.
 * </ul>
 */
final class OutboxDelivery {

    /** Delivered messages are kept this long: a master can lose acknowledged writes. */
    static final Duration RETENTION = Duration.ofSeconds(30);

    /** Maximum number of messages of one query. */
    static final int MESSAGES = 200;

    /** A batch of this duration makes the next one smaller: in its last call, to the database, the lease must not run out. */
    private static final long SLOW = Outbox.MAX_DELAY.toNanos() / 5;

    private static final Logger log = LoggerFactory.getLogger(OutboxDelivery.class);

    private final InvalidationDelivery delivery;
    private final PrefixClearing clearing;
    private final Outbox outbox;
    private final OutboxKeys names;
    private final OutboxEntries entries;
    private final SecondDeliveries second;
    private final PartlyDelivered partly;
    private final Ticker ticker;
    private final Runnable keepLease;
    private int limit = MESSAGES;

    /** @param keepLease called between calls of Redis and of the database: a batch may take longer than the lease */
    OutboxDelivery(
            InvalidationDelivery delivery,
            PrefixClearing clearing,
            Outbox outbox,
            OutboxKeys names,
            Ticker ticker,
            Runnable keepLease) {
        this.delivery = delivery;
        this.clearing = clearing;
        this.outbox = outbox;
        this.names = names;
        this.entries = new OutboxEntries(delivery, keepLease);
        this.ticker = ticker;
        this.keepLease = keepLease;
        this.second = new SecondDeliveries(ticker);
        this.partly = new PartlyDelivered(delivery.store(), names);
    }

    /**
     * Delivers some of the due messages.
     *
     * @return whether there were any
     * @throws StoreUnavailableException if Redis does not answer
     */
    boolean deliverSome() {
        long begin = ticker.nanoTime();
        try {
            return deliverBatch();
        } finally {
            limit = ticker.nanoTime() - begin >= SLOW ? Math.max(1, limit / 2) : Math.min(MESSAGES, 2 * limit);
        }
    }

    private boolean deliverBatch() {
        List<Due> due = outbox.due(delivery.clusterId(), limit);
        if (due.isEmpty()) {
            return false;
        }
        List<Due> waiting = due.stream().filter(partly::waits).toList();
        postpone(waiting, partly::againAfter);
        deliver(due.stream().filter(one -> !waiting.contains(one)).toList());
        return true;
    }

    private void deliver(List<Due> due) {
        List<CacheKey<?>> keys = keys(due);
        List<Due> begun = due.stream().filter(this::isDeliveredAgain).toList();
        Set<CacheKey<?>> kept = new HashSet<>(keys(begun));
        kept.addAll(names.keysOf(second.within(OutboxEntries.PREPARED)));
        Set<Integer> unraised = new HashSet<>();
        Map<String, Duration> failed = keys.isEmpty() ? Map.of() : deliver(keys, kept, unraised);
        OutboxEntries.requireNotInterrupted();
        List<Due> done = new ArrayList<>(due);
        List<Due> stuck = due.stream().filter(one -> has(one, failed)).toList();
        done.removeAll(stuck);
        Set<Due> forgotten = partly.record(done, stuck, failed.keySet(), unraised);
        done.removeAll(begun);
        keepLease.run();
        deliverAgain(begun.stream().filter(one -> !stuck.contains(one)).toList());
        ids(done, State.WAITING, ids -> outbox.delivered(ids, RETENTION));
        ids(done, State.OPEN, ids -> outbox.postpone(ids, OutboxEntries.AGAIN_AFTER));
        ids(done, State.EXPIRED, outbox::delete);
        // One partition that is away must not hold up the messages for the others.
        postpone(stuck, one -> forgotten.contains(one) ? partly.againAfter(one) : againAfter(one, failed));
    }

    private void postpone(List<Due> some, Function<Due, Duration> again) {
        some.stream()
                .collect(Collectors.groupingBy(
                        again, Collectors.mapping(one -> one.message().id(), Collectors.toList())))
                .forEach((delay, ids) -> outbox.postpone(ids, delay));
    }

    /** Makes all messages that were delivered wait again. A fail-over may have lost their delivery. */
    void redeliver() {
        partly.clear();
        outbox.redeliver(delivery.clusterId());
    }

    /** Until all nodes have read the epochs, a node can compute an entry of a message from an older value of a cleared cache. */
    private boolean isDeliveredAgain(Due due) {
        if (due.state() != State.WAITING || !second.begins(due.message())) {
            return false;
        }
        List<CacheKey<?>> keys = keys(List.of(due));
        return PrefixClearing.isIn(keys) && keys.stream().anyMatch(key -> !key.isAll());
    }

    private void deliverAgain(List<Due> begun) {
        if (!begun.isEmpty()) {
            outbox.postpone(begun.stream().map(one -> one.message().id()).toList(), Epochs.SEEN_BY_ALL);
            second.record(begun.stream().map(Due::message).toList());
        }
    }

    private static boolean has(Due due, Map<String, Duration> failed) {
        return due.state() != State.EXPIRED && due.message().keys().stream().anyMatch(failed::containsKey);
    }

    private static Duration againAfter(Due due, Map<String, Duration> failed) {
        return due.message().keys().stream()
                .map(failed::get)
                .filter(Objects::nonNull)
                .min(Comparator.naturalOrder())
                .orElseThrow();
    }

    /**
     * @param kept stay prepared
     * @param unraised gets the hashes whose epochs were not raised
     * @return names of keys that are not invalidated, and after which time they are due again
     * @throws StoreUnavailableException if no partition answers
     */
    private Map<String, Duration> deliver(List<CacheKey<?>> keys, Set<CacheKey<?>> kept, Set<Integer> unraised) {
        Map<String, Duration> failed = new HashMap<>();
        List<CacheKey<?>> cleared = PrefixClearing.clearedBy(keys);
        List<CacheKey<?>> named = List.copyOf(PrefixClearing.entriesOf(keys));
        StoreUnavailableException none = null;
        boolean answered = false;
        try {
            if (!cleared.isEmpty()) {
                unraised.addAll(clearing.raise(cleared));
                answered = true;
                again(failed, unraised.isEmpty() ? List.of() : cleared);
            }
        } catch (StoreUnavailableException away) {
            none = away;
            IntStream.range(0, delivery.store().epochHashes()).forEach(unraised::add);
            again(failed, cleared);
        }
        try {
            if (!named.isEmpty()) {
                failed.putAll(entries.invalidateAll(named, kept));
                answered = true;
            }
        } catch (StoreUnavailableException away) {
            none = away;
            again(failed, named);
        }
        if (none != null && !answered) {
            throw none;
        }
        log.debug(
                "Delivered {} invalidations from the outbox to Redis '{}'",
                keys.size() - failed.size(),
                delivery.clusterId());
        return failed;
    }

    private static void again(Map<String, Duration> failed, List<CacheKey<?>> keys) {
        keys.forEach(key -> failed.put(key.name(), OutboxEntries.AGAIN_AFTER));
    }

    private List<CacheKey<?>> keys(List<Due> due) {
        return names.keysOf(due.stream()
                .filter(one -> one.state() != State.EXPIRED)
                .map(Due::message)
                .toList());
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
