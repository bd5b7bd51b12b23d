package io.easykit.cache.redis;

import io.easykit.cache.CacheKey;
import io.easykit.redis.KeyPrefix;
import java.nio.charset.StandardCharsets;

/**
 * Spells all Redis keys of the cache: {@code <key prefix><prefix>::<part>:<part>} for an entry, and some names without
 * double colons, which no entry can have.
 *
 * @param keyPrefix start of every key. Applications with different prefixes can share one Redis. Braces are refused,
 *     because they would put all entries into one slot of a cluster; so are the pattern characters of ACL rules.
 */
record RedisKeys(String keyPrefix) {

    RedisKeys {
        KeyPrefix.require(keyPrefix, "shop:ec:");
    }

    byte[] entry(CacheKey<?> key) {
        return bytes(keyPrefix + key.name());
    }

    /** Hash with the epochs of all prefixes. */
    byte[] epochs() {
        return bytes(keyPrefix + "epochs");
    }

    /** Hash with the epochs of all prefixes for a range of slots; the tag decides its own slot. */
    byte[] epochs(String tag) {
        return bytes(keyPrefix + "epochs:{" + tag + "}");
    }

    /** Written to by probes. Never holds anything after a probe. */
    byte[] probe() {
        return bytes(keyPrefix + "probe");
    }

    /** Written to by probes of one master of a Redis Cluster; the tag decides its slot. */
    byte[] probe(String tag) {
        return bytes(keyPrefix + "probe:{" + tag + "}");
    }

    /** A lease on work that one node does for all. */
    byte[] workLease(String name) {
        return bytes(keyPrefix + "work-lease:" + name);
    }

    /** Name of an entry, or of all entries of a prefix, in hints. */
    static String inHints(CacheKey<?> key) {
        return key.name();
    }

    /** Channel of the hints to near levels. */
    String hints() {
        return keyPrefix + "near";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
