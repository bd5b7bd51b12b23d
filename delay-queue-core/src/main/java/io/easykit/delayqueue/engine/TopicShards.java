package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The shards of a topic as this node knows them.
 *
 * @param topic the topic
 * @param home  number of shards over which own ids and ordering keys are spread, see {@link ShardCount}
 * @param open  number of shards that take messages with generated ids, from {@code home} to {@code all}; fewer before
 *     the count is read
 * @param all   number of shards that listeners claim from
 */
record TopicShards(String topic, int home, int open, int all) {

    static TopicShards of(String topic, int shards) {
        return new TopicShards(topic, shards, shards, shards);
    }

    /** The shard of an id. */
    ShardKey shardOf(String id) {
        return new ShardKey(topic, MessageIds.shardOf(id, home, all));
    }

    List<ShardKey> keys() {
        return keys(topic, all);
    }

    static List<ShardKey> keys(String topic, int shards) {
        return IntStream.range(0, shards).mapToObj(n -> new ShardKey(topic, n)).toList();
    }
}
