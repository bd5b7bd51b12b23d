package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.ShardKey;
import java.nio.charset.StandardCharsets;

/**
 * Spells the keys of a shard. All share the hash tag {@code {topic:shard}}, so a cluster keeps them on one node; the
 * scripts derive the others from the prefix.
 *
 * @param namespace in front of all keys, so that several applications can use one Redis
 */
record RedisKeys(String namespace) {

    RedisKeys {
        if (!namespace.matches("[A-Za-z0-9._:-]{1,64}")) {
            throw new IllegalArgumentException("Key namespace '" + namespace
                    + "' is not usable: give it 1 to 64 letters, digits, or characters of \". _ : -\".");
        }
    }

    /** Of all keys of the shard; as a key, it never exists. */
    String prefix(ShardKey shard) {
        return namespace + ":{" + shard.topic() + ":" + shard.shard() + "}:";
    }

    String settings(ShardKey shard) {
        return prefix(shard) + "settings";
    }

    /** The channel that says that something is due earlier. */
    String bell(ShardKey shard) {
        return prefix(shard) + "bell";
    }

    /** A pattern for the channels of all shards. */
    String allBells() {
        return namespace + ":*";
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
