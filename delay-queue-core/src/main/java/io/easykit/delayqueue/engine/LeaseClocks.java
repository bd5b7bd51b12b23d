package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardKey;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The last reading of the clock in each shard, for consumers that start later. */
final class LeaseClocks {

    private final Map<ShardKey, LeaseClock.Shared> shards = new ConcurrentHashMap<>();

    /** Returns a clock for a consumer that starts. */
    LeaseClock of(ShardKey shard) {
        return new LeaseClock(shards.computeIfAbsent(shard, key -> new LeaseClock.Shared()));
    }
}
