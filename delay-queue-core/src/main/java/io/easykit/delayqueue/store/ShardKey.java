package io.easykit.delayqueue.store;

import io.easykit.delayqueue.support.NameRules;

/**
 * One shard of a topic: the unit in which messages are stored, ordered, claimed and counted.
 *
 * @param topic letters, digits and {@code . _ : / -}, at most 128 characters
 * @param shard from 0
 */
public record ShardKey(String topic, int shard) {

    /** The most shards that a topic may have. */
    public static final int MAX_SHARDS = 1024;

    public ShardKey {
        NameRules.requireTopic(topic);
        if (shard < 0 || shard >= MAX_SHARDS) {
            throw new IllegalArgumentException("Shard " + shard + " of topic '" + topic
                    + "' does not exist: shards count from 0 to " + (MAX_SHARDS - 1) + ".");
        }
    }

    @Override
    public String toString() {
        return topic + ":" + shard;
    }
}
