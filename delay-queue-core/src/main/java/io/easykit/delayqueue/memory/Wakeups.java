package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.WakeupListener;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Notifies consumers of messages that are due earlier than those that were waiting. */
final class Wakeups {

    private final MemoryClock clock;
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();

    Wakeups(MemoryClock clock) {
        this.clock = clock;
    }

    private record Subscriber(Set<ShardKey> shards, WakeupListener listener) {}

    Subscription subscribe(Collection<ShardKey> keys, WakeupListener listener) {
        Subscriber subscriber = new Subscriber(Set.copyOf(keys), listener);
        subscribers.add(subscriber);
        return new Subscription() {
            /** No wakeup is lost. */
            @Override
            public Duration sinceProof() {
                return Duration.ZERO;
            }

            @Override
            public void close() {
                subscribers.remove(subscriber);
            }
        };
    }

    /**
     * Notifies unless a consumer wakes up in time anyway.
     *
     * @param earliestDue of the messages that waited before, or null if there was none
     * @param arrivals    due times of the messages that wait in addition now
     */
    void notify(ShardKey key, @Nullable Long earliestDue, List<Long> arrivals) {
        if (isNews(earliestDue, arrivals)) {
            long earliest = Collections.min(arrivals);
            subscribers.stream()
                    .filter(subscriber -> subscriber.shards.contains(key))
                    .forEach(subscriber -> subscriber.listener.onEarlierDue(key, Instant.ofEpochMilli(earliest)));
        }
    }

    /** Whether no consumer wakes up in time anyway. The parameters are those of {@link #notify}. */
    boolean isNews(@Nullable Long earliestDue, List<Long> arrivals) {
        return !arrivals.isEmpty()
                && (earliestDue == null || earliestDue > Math.max(clock.now(), Collections.min(arrivals)));
    }
}
