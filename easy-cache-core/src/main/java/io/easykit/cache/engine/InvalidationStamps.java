package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Fences a level of values in this JVM by counts of invalidations, by key and by prefix. A stamp is taken before a value is read or
 * loaded, and kept with the value. The value may be returned only while the stamp of its key is the same.
 *
 * <p>Keys, and prefixes, share a fixed number of slots. A key that shares the slot of an invalidated one costs a read.
 */
final class InvalidationStamps {

    private static final int KEYS = 1 << 12;
    private static final int PREFIXES = 1 << 8;

    private final AtomicLongArray keys = new AtomicLongArray(KEYS);
    private final AtomicLongArray prefixes = new AtomicLongArray(PREFIXES);

    /** The sum of two counts that only grow: two equal stamps of a key mean that neither count has changed. */
    long of(CacheKey<?> key) {
        return keys.get(slotOf(key)) + prefixes.get(slotOf(key.spec().prefix()));
    }

    void change(CacheKey<?> key) {
        keys.incrementAndGet(slotOf(key));
    }

    /** Changes the stamps of all keys of a prefix. */
    void changeAll(String prefix) {
        prefixes.incrementAndGet(slotOf(prefix));
    }

    void changeAll() {
        for (int slot = 0; slot < PREFIXES; slot++) {
            prefixes.incrementAndGet(slot);
        }
    }

    private static int slotOf(CacheKey<?> key) {
        return slot(key.hashCode(), KEYS);
    }

    private static int slotOf(String prefix) {
        return slot(prefix.hashCode(), PREFIXES);
    }

    private static int slot(int hash, int slots) {
        return (hash ^ hash >>> 16) & slots - 1;
    }
}
