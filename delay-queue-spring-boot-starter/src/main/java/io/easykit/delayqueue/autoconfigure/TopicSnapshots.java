package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicStats;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of each topic, for all who look at them: Redis is asked again when the last answer is old, by one caller at a
 * time. All topics together wait at most a second for answers that do not come until all is tried again, so that a scrape of
 * many topics ends in time.
 */
final class TopicSnapshots {

    private static final long PATIENCE = Duration.ofSeconds(1).toNanos();

    private final Function<String, TopicStats> stats;
    private final LongSupplier nanoTime;
    private final long maxAge;
    private final Map<String, Snapshot> snapshots = new ConcurrentHashMap<>();
    private @Nullable Waste waste;

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
        long begin = nanoTime.getAsLong();
        RuntimeException known = whyGivenUp(begin);
        if (known != null) {
            return failed(begin, known);
        }
        try {
            TopicStats numbers = stats.apply(topic);
            return new Snapshot(nanoTime.getAsLong(), () -> numbers);
        } catch (RuntimeException e) {
            long end = nanoTime.getAsLong();
            noteWaste(begin, end, e);
            return failed(end, e);
        }
    }

    private synchronized @Nullable RuntimeException whyGivenUp(long now) {
        Waste last = waste;
        return last != null && last.nanos >= PATIENCE && now - last.since < maxAge ? last.failure : null;
    }

    private synchronized void noteWaste(long begin, long end, RuntimeException failure) {
        Waste last = waste;
        waste = last != null && end - last.since < maxAge
                ? new Waste(last.since, last.nanos + end - begin, failure)
                : new Waste(begin, end - begin, failure);
    }

    private static Snapshot failed(long at, RuntimeException e) {
        return new Snapshot(at, () -> {
            throw e;
        });
    }

    private record Snapshot(long taken, Supplier<TopicStats> answer) {}

    /** Time spent on answers that did not come, and why the last did not. */
    private record Waste(long since, long nanos, RuntimeException failure) {}
}
