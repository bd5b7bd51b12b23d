package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.KeyPrefix;
import java.nio.charset.StandardCharsets;

/**
 * Spells all keys and channels of the queue. The keys of a shard share the hash tag {@code {topic:shard}}, so a cluster
 * keeps them on one master. The scripts derive the other keys of a shard from its prefix.
 *
 * @param keyPrefix start of every key and channel. Applications with different prefixes can share one Redis. Braces are
 *     refused, because they would change the hash tag; so are the pattern characters of ACL rules.
 */
record RedisKeys(String keyPrefix) {

    private static final String SETTINGS = "settings";

    RedisKeys {
        KeyPrefix.require(keyPrefix, "shop:dq:");
    }

    /**
     * Keys that share a hash tag, and so a master of a Redis Cluster.
     *
     * @param name   for messages
     * @param prefix start of these keys; no key has this name
     */
    record Slot(String name, String prefix) {

        /** The keys that each script gets. */
        byte[][] keys() {
            return new byte[][] {bytes(prefix), bytes(prefix + SETTINGS)};
        }
    }

    Slot slot(ShardKey shard) {
        return new Slot(shard.toString(), prefix(shard));
    }

    /** What belongs to no topic alone: the registry of topics and nodes. No shard has this hash tag, because it has no colon. */
    Slot fleet() {
        return new Slot("the registry of nodes", keyPrefix + "{nodes}:");
    }

    /** Jobs of the administration. No shard has this hash tag either. */
    Slot console() {
        return new Slot("the jobs of the administration", keyPrefix + "{console}:");
    }

    /** Start of all keys of the shard. No key has this name. */
    String prefix(ShardKey shard) {
        return keyPrefix + "{" + shard.topic() + ":" + shard.shard() + "}:";
    }

    String settings(ShardKey shard) {
        return prefix(shard) + SETTINGS;
    }

    /** Channel that announces a message that is due earlier than those before it. */
    String wakeup(ShardKey shard) {
        return prefix(shard) + "wakeup";
    }

    /** Channel on which one process sends messages to itself. */
    String echo(String process) {
        return keyPrefix + "echo:" + process;
    }

    /** Pattern of all channels. */
    String allWakeups() {
        return keyPrefix + "*";
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
