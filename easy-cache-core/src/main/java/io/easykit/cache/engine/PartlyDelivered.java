package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.State;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * Messages of the outbox that were delivered to the masters that answer, while others are marked unavailable. They are not
 * delivered again before one of those is back, since each delivery drops what was loaded meanwhile. Then they are delivered to
 * all masters, since a value in one may have been computed from an older one in another.
 *
 * <p>A message that one of the other masters has not taken either, or has refused, is none of them.
 */
final class PartlyDelivered {

    /** Maximum number of messages that are remembered. Of others, those wait whose masters are all away; the rest is tried seldom. */
    static final int MOST = 10_000;

    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final GuardedStore store;
    private final OutboxKeys names;

    /** The masters that were away at the last delivery of a message, by its id. */
    private final Map<String, Set<CircuitBreaker>> awayBy = new HashMap<>();

    PartlyDelivered(GuardedStore store, OutboxKeys names) {
        this.store = store;
        this.names = names;
    }

    /** Whether a message needs no delivery now. One that is open is delivered in each round. */
    boolean waits(Due due) {
        if (due.state() != State.WAITING) {
            return false;
        }
        Set<CircuitBreaker> masters = mastersOf(due);
        Set<CircuitBreaker> away = away(masters);
        if (away.isEmpty()) {
            return false;
        }
        Set<CircuitBreaker> before = awayBy.get(due.message().id());
        return before == null ? awayBy.size() >= MOST && away.equals(masters) : before.equals(away);
    }

    /**
     * After which time a message that waits is due again. Many have to wait longer, since each try is a write to the database:
     * a node that recovers delivers their entries before its readers use them ({@link OutboxRecovery}).
     */
    Duration againAfter(Due due) {
        if (PrefixClearing.isIn(names.keysOf(List.of(due.message())))) {
            return OutboxEntries.AGAIN_AFTER;
        }
        Duration inTurns = OutboxEntries.AGAIN_AFTER.multipliedBy(1 + awayBy.size() / OutboxDelivery.MESSAGES);
        return inTurns.compareTo(LONGEST) < 0 ? inTurns : LONGEST;
    }

    /**
     * Records a delivery. Returns the messages that wait for masters that are away, and that are too many to be remembered.
     *
     * @param stuck messages that were not delivered everywhere
     * @param failed names of the keys that were not delivered everywhere
     * @param unraised the hashes whose epochs were not raised
     */
    Set<Due> record(Collection<Due> delivered, Collection<Due> stuck, Set<String> failed, Set<Integer> unraised) {
        Set<Due> forgotten = new HashSet<>();
        delivered.forEach(one -> awayBy.remove(one.message().id()));
        for (Due one : stuck) {
            awayBy.remove(one.message().id());
            Set<CircuitBreaker> away = away(mastersOf(one));
            boolean isOnlyAway = one.state() == State.WAITING && away.containsAll(failedOf(one, failed, unraised));
            if (isOnlyAway && awayBy.size() < MOST) {
                awayBy.put(one.message().id(), away);
            } else if (isOnlyAway) {
                forgotten.add(one);
            }
        }
        return forgotten;
    }

    /** Forgets all: masters may have lost what was delivered. */
    void clear() {
        awayBy.clear();
    }

    private static Set<CircuitBreaker> away(Set<CircuitBreaker> masters) {
        Set<CircuitBreaker> away = new HashSet<>(masters);
        away.removeIf(CircuitBreaker::mayWrite);
        return away;
    }

    private Set<CircuitBreaker> mastersOf(Due due) {
        return masters(names.keysOf(List.of(due.message())), hash -> true);
    }

    private Set<CircuitBreaker> failedOf(Due due, Set<String> failed, Set<Integer> unraised) {
        List<CacheKey<?>> keys = names.keysOf(List.of(due.message())).stream()
                .<CacheKey<?>>map(key -> key)
                .filter(key -> failed.contains(key.name()))
                .toList();
        return masters(keys, unraised::contains);
    }

    /** @param hashes those with the epochs of cleared caches that count */
    private Set<CircuitBreaker> masters(List<CacheKey<?>> keys, IntPredicate hashes) {
        Set<CircuitBreaker> masters =
                new HashSet<>(store.byPartition(PrefixClearing.entriesOf(keys)).keySet());
        if (PrefixClearing.isIn(keys)) {
            IntStream.range(0, store.epochHashes())
                    .filter(hashes)
                    .mapToObj(store.availability()::ofEpochs)
                    .forEach(masters::add);
        }
        return masters;
    }
}
