package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.admin.TopicSeries.Point;
import io.easykit.delayqueue.store.Samples;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Adds up the samples of the shards of a topic. A minute counts if all shards have a sample of it. A shard that was added later held
 * nothing before its first sample. Its counters stand still until then, so that no rate contains what it has counted so far.
 */
final class TopicSamples {

    private final int home;
    private final TreeMap<Instant, Point> sums = new TreeMap<>();
    private final TreeMap<Instant, Integer> counts = new TreeMap<>();
    private final List<Point> firstOfAdded = new ArrayList<>();
    private Instant now = Instant.EPOCH;
    private int shards;

    /** @param home number of the shards that the topic had from the beginning */
    TopicSamples(int home) {
        this.home = home;
    }

    void add(ShardKey shard, Samples samples) {
        now = samples.now();
        boolean isAdded = shard.shard() >= home;
        if (isAdded && samples.points().isEmpty()) {
            return;
        }
        shards++;
        samples.points().forEach(this::add);
        if (isAdded) {
            firstOfAdded.add(samples.points().get(0));
        }
    }

    private void add(Point point) {
        sums.merge(point.at(), point, Point::plus);
        counts.merge(point.at(), 1, Integer::sum);
    }

    TopicSeries series(String topic) {
        for (Point first : firstOfAdded) {
            List.copyOf(sums.headMap(first.at()).keySet()).forEach(at -> add(before(first, at)));
        }
        sums.keySet().removeIf(at -> counts.getOrDefault(at, 0) < shards);
        return new TopicSeries(topic, now, List.copyOf(sums.values()));
    }

    private static Point before(Point first, Instant at) {
        return new Point(
                at,
                0,
                0,
                0,
                0,
                Duration.ZERO,
                first.sent(),
                first.acknowledged(),
                first.failed(),
                first.leaseExpirations(),
                first.died());
    }
}
