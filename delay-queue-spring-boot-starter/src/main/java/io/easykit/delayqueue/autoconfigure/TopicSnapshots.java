package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicStats;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The numbers of each topic, for all who look at them: Redis is asked again when the last answer is old, by one caller at a
 * time.
 */
final class TopicSnapshots {

    private final Function<String, TopicStats> stats;
    private final LongSupplier nanoTime;
    private final long maxAge;
    private final Map<String, Snapshot> snapshots = new ConcurrentHashMap<>();

    /**
     * Snapshots of what is asked for.
     *
     * @param stats asks Redis
     * @param nanoTime a clock that only goes forward
     */
    TopicSnapshots(Function<String, TopicStats> stats, Duration maxAge, LongSupplier nanoTime) {
        this.stats = stats;
        this.maxAge = maxAge.toNanos();
        this.nanoTime = nanoTime;
    }

    /**
     * The numbers of a topic, of not long ago.
     *
     * @throws StoreUnavailableException if Redis did not answer, not long ago
     */
    TopicStats of(String topic) {
        return snapshots
                .compute(topic, (name, last) -> last != null && isFresh(last) ? last : take(name))
                .answer
                .get();
    }

    private boolean isFresh(Snapshot snapshot) {
        return nanoTime.getAsLong() - snapshot.taken < maxAge;
    }

    private Snapshot take(String topic) {
        Supplier<TopicStats> answer;
        try {
            TopicStats numbers = stats.apply(topic);
            answer = () -> numbers;
        } catch (RuntimeException e) {
            answer = () -> {
                throw e;
            };
        }
        return new Snapshot(nanoTime.getAsLong(), answer);
    }

    private record Snapshot(long taken, Supplier<TopicStats> answer) {}
}
