package io.easykit.delayqueue;

import java.util.Objects;
import java.util.regex.Pattern;

/**
 * One shard of a topic: the unit in which messages are stored, ordered, claimed and counted.
 *
 * @param topic letters, digits and {@code . _ : / -}, at most 128 characters
 * @param shard from 0
 */
public record ShardKey(String topic, int shard) {

    /** The most shards that a topic may have. */
    public static final int MAX_SHARDS = 1024;

    private static final Pattern TOPIC = Pattern.compile("[A-Za-z0-9._:/-]{1,128}");

    public ShardKey {
        Objects.requireNonNull(topic, "A topic that is null: give the topic that the listener names.");
        if (!TOPIC.matcher(topic).matches()) {
            throw new IllegalArgumentException("Topic '" + LogText.of(topic)
                    + "' is not usable: give it 1 to 128 letters, digits, or characters of \". _ : / -\".");
        }
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
