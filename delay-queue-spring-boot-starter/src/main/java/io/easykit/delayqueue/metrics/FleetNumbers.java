package io.easykit.delayqueue.metrics;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.TopicStats;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The numbers that gauges show: those of {@link TopicSnapshots}, and what follows from several of them or from all nodes. */
public final class FleetNumbers {

    /** Nodes report themselves every ten seconds. */
    private static final long NODES_AGE = Duration.ofSeconds(10).toNanos();

    private static final long PING_AGE = Duration.ofSeconds(5).toNanos();

    /** The rate is that of the last one to two of these. */
    private static final long RATE_SPAN = Duration.ofMinutes(1).toNanos();

    private static final long SHORTEST_SPAN = Duration.ofSeconds(10).toNanos();

    private final TopicSnapshots snapshots;
    private final Cached<List<NodeInfo>> nodes;
    private final Cached<Boolean> available;
    private final LongSupplier nanoTime;
    private final Map<String, Progress> progress = new ConcurrentHashMap<>();

    /**
     * Creates numbers that read nothing yet.
     *
     * @param nodes    reads the nodes
     * @param ping     any call of Redis
     * @param nanoTime a monotonic clock, in nanoseconds
     */
    public FleetNumbers(
            TopicSnapshots snapshots, Supplier<List<NodeInfo>> nodes, Runnable ping, LongSupplier nanoTime) {
        this.snapshots = snapshots;
        this.nodes = new Cached<>(nodes, NODES_AGE, nanoTime);
        this.available = new Cached<>(() -> isAnswered(ping), PING_AGE, nanoTime);
        this.nanoTime = nanoTime;
    }

    private static boolean isAnswered(Runnable ping) {
        try {
            ping.run();
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    /**
     * Returns recent figures of a topic.
     *
     * @throws StoreRefusedException if Redis refuses to count one of its shards: sums without it would look right
     */
    TopicStats stats(String topic) {
        TopicStats stats = snapshots.of(topic);
        if (!stats.refused().isEmpty()) {
            throw new StoreRefusedException(String.join("; ", stats.refused()), null);
        }
        progress.compute(topic, (name, before) -> {
            Mark now = new Mark(nanoTime.getAsLong(), stats.counters().acknowledged());
            return before == null ? new Progress(now, now, now) : before.then(now);
        });
        return stats;
    }

    /** Calls of listeners that all nodes together can run; paused listeners count as none. */
    int places(String topic) {
        return nodes.get().stream().mapToInt(node -> node.places(topic)).sum();
    }

    boolean isAvailable() {
        return available.get();
    }

    /** 0 if nothing is due, infinite if nothing is done, and NaN until a rate is known. */
    double drainSeconds(String topic) {
        long due = stats(topic).due();
        if (due == 0) {
            return 0;
        }
        Progress known = progress.get(topic);
        return known == null ? Double.NaN : due / known.perSecond();
    }

    /** A count at a time. */
    private record Mark(long nanos, long count) {}

    /** Counts at the begin of a span, of the next one, and now. */
    private record Progress(Mark first, Mark second, Mark last) {

        Progress then(Mark now) {
            return now.nanos - second.nanos >= RATE_SPAN
                    ? new Progress(second, now, now)
                    : new Progress(first, second, now);
        }

        double perSecond() {
            long span = last.nanos - first.nanos;
            return span < SHORTEST_SPAN ? Double.NaN : Math.max(0, last.count - first.count) * 1e9 / span;
        }
    }

    /** A value that is read again when it is too old. A failure counts as a value. */
    private static final class Cached<T> {

        private final Supplier<T> source;
        private final long maxAge;
        private final LongSupplier nanoTime;
        private @Nullable Supplier<T> value;
        private long readAt;

        Cached(Supplier<T> source, long maxAge, LongSupplier nanoTime) {
            this.source = source;
            this.maxAge = maxAge;
            this.nanoTime = nanoTime;
        }

        synchronized T get() {
            Supplier<T> known = value;
            if (known == null || nanoTime.getAsLong() - readAt >= maxAge) {
                known = read();
                value = known;
                readAt = nanoTime.getAsLong();
            }
            return known.get();
        }

        private Supplier<T> read() {
            try {
                T read = source.get();
                return () -> read;
            } catch (RuntimeException e) {
                return () -> {
                    throw e;
                };
            }
        }
    }
}
