package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Samples;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the store take a sample of each shard of all topics once a minute: one call a minute and shard for the whole fleet,
 * because only the node that was there first does it. If that node dies, the next one goes on when the store forgets it. Two
 * nodes at the same time do no harm: the store takes one sample a minute.
 */
final class Sampler {

    private static final Logger log = LoggerFactory.getLogger(Sampler.class);

    private static final long MINUTE = TimeUnit.MINUTES.toMillis(1);

    /** The next heartbeat must not be late. */
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Calls without an answer, as from the shards of a master that is away. */
    private static final int MOST_UNANSWERED = 3;

    private final QueueBackend store;
    private final LongSupplier nanos;
    private final Deque<ShardKey> left = new ArrayDeque<>();
    private long sampledMinute;

    /** @param nanos a clock that only moves forward */
    Sampler(QueueBackend store, LongSupplier nanos) {
        this.store = store;
        this.nanos = nanos;
    }

    /** After each heartbeat of this node. */
    void onBeat(Beat beat) {
        long minute = beat.now().toEpochMilli() / MINUTE;
        if (!beat.first()) {
            left.clear();
            return;
        }
        if (minute != sampledMinute) {
            left.clear();
            store.fleet().topics().forEach((topic, shards) -> left.addAll(Topics.keys(topic, shards)));
            sampledMinute = minute;
        }
        sample();
    }

    private void sample() {
        long end = nanos.getAsLong() + MOST_NANOS;
        int unanswered = 0;
        while (!left.isEmpty() && unanswered < MOST_UNANSWERED && nanos.getAsLong() - end < 0) {
            ShardKey shard = left.remove();
            try {
                store.fleet().sample(shard);
            } catch (StoreUnavailableException e) {
                unanswered++;
                log.debug("No sample of {} in this minute", shard, e);
            } catch (StoreRefusedException e) {
                log.debug("No sample of {}", shard, e);
            }
        }
    }

    /** The samples of a topic: minutes of which all shards have one. */
    static TopicSeries series(String topic, List<ShardKey> shards, Duration range, QueueBackend store) {
        TreeMap<Instant, TopicSeries.Point> sums = new TreeMap<>();
        TreeMap<Instant, Integer> counts = new TreeMap<>();
        Instant now = Instant.EPOCH;
        for (ShardKey shard : shards) {
            Samples samples = store.fleet().samples(shard, range);
            now = samples.now();
            for (TopicSeries.Point point : samples.points()) {
                sums.merge(point.at(), point, TopicSeries.Point::plus);
                counts.merge(point.at(), 1, Integer::sum);
            }
        }
        counts.forEach((at, count) -> {
            if (count < shards.size()) {
                sums.remove(at);
            }
        });
        return new TopicSeries(topic, now, List.copyOf(sums.values()));
    }
}
