package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardKey;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Shards whose store did not carry out a send lately. Messages with a generated id go to other shards meanwhile. Once a
 * second one send tries whether the shard is back.
 */
final class AwayShards {

    private static final long AVOIDED = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanos;

    /** Time from which a send may try the shard again. Empty but during an outage. */
    private final Map<ShardKey, Long> retryAt = new ConcurrentHashMap<>();

    /** @param nanos a clock that only moves forward */
    AwayShards(LongSupplier nanos) {
        this.nanos = nanos;
    }

    void failed(ShardKey shard) {
        retryAt.put(shard, nanos.getAsLong() + AVOIDED);
    }

    void answered(ShardKey shard) {
        if (!retryAt.isEmpty()) {
            retryAt.remove(shard);
        }
    }

    /** A shard for a generated id: a random one. */
    int choose(String topic, int shards) {
        return choose(topic, shards, ThreadLocalRandom.current().nextInt(shards));
    }

    /** The preferred shard, or if it is away the next one that is not. If all are away, the preferred one. */
    int choose(String topic, int shards, int preferred) {
        if (retryAt.isEmpty()) {
            return preferred;
        }
        for (int i = 0; i < shards; i++) {
            int shard = (preferred + i) % shards;
            if (mayTry(new ShardKey(topic, shard))) {
                return shard;
            }
        }
        return preferred;
    }

    private boolean mayTry(ShardKey shard) {
        Long at = retryAt.get(shard);
        long now = nanos.getAsLong();
        return at == null || (now - at >= 0 && retryAt.replace(shard, at, now + AVOIDED));
    }
}
