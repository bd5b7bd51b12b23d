package io.easykit.delayqueue.metrics;

import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.TopicStats;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Caches the figures of each topic for all readers. One caller at a time refreshes figures that are too old. If Redis
 * does not reply, all topics together wait about one second until the next try, so that a scrape of many topics ends in
 * time.
 */
public final class TopicSnapshots {

    private static final long PATIENCE = Duration.ofSeconds(1).toNanos();

    private final Function<String, TopicStats> stats;
    private final LongSupplier nanoTime;
    private final long maxAge;
    private final Map<String, Snapshot> snapshots = new ConcurrentHashMap<>();
    private @Nullable Waste waste;

    /**
     * Creates an empty cache.
     *
     * @param stats reads the figures from Redis
     * @param nanoTime a monotonic clock, in nanoseconds
     */
    public TopicSnapshots(Function<String, TopicStats> stats, Duration maxAge, LongSupplier nanoTime) {
        this.stats = stats;
        this.maxAge = maxAge.toNanos();
        this.nanoTime = nanoTime;
    }

    /**
     * Returns recent figures of a topic.
     *
     * @throws StoreUnavailableException if Redis did not reply recently
     */
    public TopicStats of(String topic) {
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

    /** Time spent on waiting for missing replies, and the last failure. */
    private record Waste(long since, long nanos, RuntimeException failure) {}
}
