package io.easykit.delayqueue.test;

import io.easykit.delayqueue.store.QueueInspector;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The longest lease that messages of each shard were claimed with. */
final class ClaimedLeases {

    private final QueueInspector store;
    private final Map<ShardKey, Duration> longest = new ConcurrentHashMap<>();

    ClaimedLeases(QueueInspector store) {
        this.store = store;
    }

    void claimed(ShardKey shard, Duration lease) {
        longest.merge(shard, lease, (one, other) -> one.compareTo(other) < 0 ? other : one);
    }

    /** The longest lease among the shards that have messages in flight; zero if none has. */
    Duration longestInFlight() {
        return longest.entrySet().stream()
                .filter(entry -> store.stats(entry.getKey()).inFlight() > 0)
                .map(Map.Entry::getValue)
                .max(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    void clear() {
        longest.clear();
    }
}
