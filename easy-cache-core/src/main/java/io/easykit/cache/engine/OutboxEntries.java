package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Prepares and invalidates entries that messages of the outbox name. The preparations have a token of this instance. */
final class OutboxEntries {

    /** Open messages, and those that could not be delivered, are due again after this time. */
    static final Duration AGAIN_AFTER = Duration.ofSeconds(1);

    /** For the time between preparing and invalidating in one delivery, or in two. */
    static final Duration PREPARED = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(OutboxEntries.class);
    private static final String NO_TOKEN = "";
    private static final int KEYS = 100;

    /** Delay of keys in a failed call that was not split any further. */
    private static final Duration LEFT_OUT_AGAIN_AFTER = Duration.ofSeconds(5);

    private final InvalidationDelivery delivery;
    private final GuardedStore store;
    private final Runnable betweenCalls;

    /** Token of the preparations. A second delivery renews and removes those that stay until then. */
    private final String token = UUID.randomUUID().toString();

    /** @param betweenCalls called before each call of Redis, of which there may be many */
    OutboxEntries(InvalidationDelivery delivery, Runnable betweenCalls) {
        this.delivery = delivery;
        this.store = delivery.store();
        this.betweenCalls = betweenCalls;
    }

    /**
     * Prepares keys, and then invalidates them: twice, if a partition invalidates what it has not prepared.
     *
     * @param kept stay prepared
     * @return names of keys that are not invalidated, and after which time they are due again
     * @throws StoreUnavailableException if no partition answers, unless all of them are marked unavailable
     */
    Map<String, Duration> invalidateAll(List<CacheKey<?>> keys, Set<CacheKey<?>> kept) {
        Set<CircuitBreaker> unprepared = prepare(keys);
        Map<CircuitBreaker, List<CacheKey<?>>> partitions = store.byPartition(keys);
        Map<String, Duration> failed = new HashMap<>();
        Set<CircuitBreaker> unavailable = invalidateEach(partitions, kept, failed);
        unprepared.removeAll(unavailable);
        if (keys.size() > 1 && !unprepared.isEmpty()) {
            Map<CircuitBreaker, List<CacheKey<?>>> again = new LinkedHashMap<>();
            partitions.forEach((breaker, partition) -> {
                if (!unavailable.contains(breaker)) {
                    again.put(breaker, only(partition, key -> !failed.containsKey(key.name())));
                }
            });
            Set<CircuitBreaker> unused = invalidateEach(again, kept, failed);
        }
        return failed;
    }

    /** Returns the partitions that do not answer. */
    private Set<CircuitBreaker> invalidateEach(
            Map<CircuitBreaker, List<CacheKey<?>>> partitions, Set<CacheKey<?>> kept, Map<String, Duration> failed) {
        Set<CircuitBreaker> unavailable = new HashSet<>();
        partitions.forEach((breaker, partition) -> {
            try {
                OutboxInvalidation result = invalidatePartition(breaker, partition, kept);
                put(failed, result.refused(), Redelivery.REFUSED_AGAIN_AFTER);
                put(failed, result.leftOut(), LEFT_OUT_AGAIN_AFTER);
            } catch (StoreUnavailableException away) {
                put(failed, partition, AGAIN_AFTER);
                unavailable.add(breaker);
                // Those of masters that are known to be away must not hold up later messages for the others.
                if (unavailable.size() == partitions.size()
                        && unavailable.stream().anyMatch(CircuitBreaker::mayWrite)) {
                    throw away;
                }
            }
        });
        return unavailable;
    }

    /** Returns the partitions that have not prepared all of their keys. */
    Set<CircuitBreaker> prepare(List<CacheKey<?>> keys) {
        Set<CircuitBreaker> unprepared = new HashSet<>();
        store.byPartition(keys).forEach((breaker, partition) -> {
            try {
                inParts(partition, part -> {
                    if (!prepareUnlessRefused(part)) {
                        unprepared.add(breaker);
                    }
                });
            } catch (StoreUnavailableException full) {
                // A full Redis refuses to prepare but still invalidates; one that is away does neither.
                log.debug("Redis '{}' did not prepare", delivery.clusterId(), full);
                unprepared.add(breaker);
            }
        });
        return unprepared;
    }

    private boolean prepareUnlessRefused(List<CacheKey<?>> keys) {
        try {
            store.prepare(keys, token, PREPARED);
            return true;
        } catch (StoreUnavailableException failed) {
            if (!OutboxInvalidation.isOfSingleKeys(failed)) {
                throw failed;
            }
            log.debug("Some of {} could not be prepared", keys, failed);
            return false;
        }
    }

    /** @throws StoreUnavailableException if the partition does not answer */
    OutboxInvalidation invalidatePartition(CircuitBreaker breaker, List<CacheKey<?>> partition, Set<CacheKey<?>> kept) {
        // Readers of this node join no load that began before.
        delivery.ownUpdates().add(partition);
        OutboxInvalidation invalidation = new OutboxInvalidation(store, breaker);
        inParts(only(partition, kept::contains), part -> invalidation.invalidate(part, NO_TOKEN));
        inParts(only(partition, key -> !kept.contains(key)), part -> invalidation.invalidate(part, token));
        partition.forEach(delivery.local()::invalidate);
        delivery.recent().add(only(partition, invalidation::isDone));
        // Readers of this node must not get a value either that was stored before the command.
        delivery.ownUpdates().add(partition);
        return invalidation;
    }

    /** An embedded database may close itself when an interrupted thread uses it. */
    static void requireNotInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw StoreUnavailableException.notCalled("Interrupted while the outbox was delivered");
        }
    }

    private static void put(Map<String, Duration> failed, Collection<CacheKey<?>> keys, Duration again) {
        keys.forEach(key -> failed.put(key.name(), again));
    }

    static List<CacheKey<?>> only(List<CacheKey<?>> keys, Predicate<CacheKey<?>> which) {
        return keys.stream().filter(which).toList();
    }

    private void inParts(List<CacheKey<?>> keys, Consumer<List<CacheKey<?>>> action) {
        for (int from = 0; from < keys.size(); from += KEYS) {
            betweenCalls.run();
            action.accept(keys.subList(from, Math.min(from + KEYS, keys.size())));
        }
    }
}
