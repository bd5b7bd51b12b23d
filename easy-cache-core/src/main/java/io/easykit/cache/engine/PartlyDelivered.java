package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.Outbox.Due;
import io.easykit.cache.store.Outbox.State;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Messages of the outbox that were delivered to the masters that answer, while others are away. They are not delivered again
 * before those are back, since each delivery drops what was loaded meanwhile. Then they are delivered to all masters, since a
 * value in one may have been computed from an older one in another.
 */
final class PartlyDelivered {

    private static final Duration LONGEST = Duration.ofSeconds(30);

    private final GuardedStore store;
    private final OutboxKeys names;
    private final Set<String> ids = new HashSet<>();

    PartlyDelivered(GuardedStore store, OutboxKeys names) {
        this.store = store;
        this.names = names;
    }

    /** Whether a message needs no delivery now. One that is open is delivered in each round. */
    boolean waits(Due due) {
        return due.state() == State.WAITING
                && ids.contains(due.message().id())
                && isAnyAway(names.keysOf(List.of(due.message())));
    }

    /**
     * After which time a message that waits is due again. Many have to wait longer, since each try is a write to the database:
     * a node that recovers delivers their entries before its readers use them ({@link OutboxRecovery}).
     */
    Duration againAfter(Due due) {
        if (PrefixClearing.isIn(names.keysOf(List.of(due.message())))) {
            return OutboxEntries.AGAIN_AFTER;
        }
        Duration inTurns = OutboxEntries.AGAIN_AFTER.multipliedBy(1 + ids.size() / OutboxDelivery.MESSAGES);
        return inTurns.compareTo(LONGEST) < 0 ? inTurns : LONGEST;
    }

    private boolean isAnyAway(List<CacheKey<?>> keys) {
        boolean away = store.byPartition(PrefixClearing.entriesOf(keys)).keySet().stream()
                .anyMatch(breaker -> !breaker.mayWrite());
        for (int hash = 0; hash < store.epochHashes() && !away; hash++) {
            away = PrefixClearing.isIn(keys)
                    && !store.availability().ofEpochs(hash).mayWrite();
        }
        return away;
    }

    /**
     * Records a delivery.
     *
     * @param failed those that were not delivered everywhere
     */
    void record(Collection<Due> delivered, Collection<Due> failed) {
        delivered.forEach(one -> ids.remove(one.message().id()));
        failed.stream()
                .filter(one -> one.state() == State.WAITING)
                .forEach(one -> ids.add(one.message().id()));
    }

    /** Forgets all: masters may have lost what was delivered. */
    void clear() {
        ids.clear();
    }
}
