package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Has the store take a sample of each shard of all topics once a minute: one call a minute and shard for the whole fleet,
 * because only the node that was there first does it. If that node dies, the next one goes on when the store forgets it. Two
 * nodes at the same time do no harm: the store takes one sample a minute.
 */
final class Sampler {

    private static final long MINUTE = TimeUnit.MINUTES.toMillis(1);

    private final QueueBackend store;
    private final BoundedRound<ShardKey> round;
    private long sampledMinute;

    /** @param nanos a clock that only moves forward */
    Sampler(QueueBackend store, LongSupplier nanos) {
        this.store = store;
        this.round = new BoundedRound<>(nanos);
    }

    /** Called after each heartbeat of this node. */
    void onBeat(Beat beat) {
        long minute = beat.now().toEpochMilli() / MINUTE;
        if (!beat.first()) {
            round.clear();
            return;
        }
        if (minute != sampledMinute) {
            store.fleet().topics().forEach((topic, shards) -> round.add(TopicShards.keys(topic, shards)));
            sampledMinute = minute;
        }
        round.run(store.fleet()::sample);
    }

    /** The samples of a topic: minutes of which all shards have one, see {@link TopicSamples}. */
    static TopicSeries series(String topic, int home, List<ShardKey> shards, Duration range, QueueBackend store) {
        EachShard each = new EachShard();
        TopicSeries series = series(topic, home, shards, range, store, each);
        each.throwIfRefused();
        return series;
    }

    /** The samples of a topic: minutes of which all shards that this one could read have one. */
    static TopicSeries series(
            String topic, int home, List<ShardKey> shards, Duration range, QueueBackend store, EachShard each) {
        TopicSamples read = new TopicSamples(home);
        each.attemptAll(shards, shard -> read.add(shard, store.fleet().samples(shard, range)));
        return read.series(topic);
    }
}
