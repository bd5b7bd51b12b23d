package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LocalLevel;
import io.easykit.cache.type.ImmutableTypes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The local level, fenced like the store: a value that was loaded before an invalidation is not put in after it.
 *
 * <p>A reader takes a stamp before it loads. Invalidations change the stamp of their key (and of some others that share the
 * slot, which costs those a load).
 *
 * <p>Immutable values are kept as they are, others as bytes, so that each reader has an object of its own, as from Redis.
 */
final class LocalEntries {

    private static final int SLOTS = 1024;

    private final LocalLevel level;
    private final ValueEnvelopes values;
    private final Duration ttl;
    private final AtomicLongArray stamps = new AtomicLongArray(SLOTS);

    LocalEntries(LocalLevel level, ValueEnvelopes values, Duration ttl) {
        this.level = level;
        this.values = values;
        this.ttl = ttl;
    }

    @SuppressWarnings("unchecked") // what lies under a key was put there with it
    <V> @Nullable Decoded<V> get(CacheKey<V> key) {
        Object kept = level.get(key);
        return kept instanceof Envelope envelope ? values.decode(envelope, key) : (Decoded<V>) kept;
    }

    long stamp(CacheKey<?> key) {
        return stamps.get(slot(key));
    }

    /**
     * @param age of the value: how long it took to load
     */
    <V> void put(CacheKey<V> key, @Nullable V value, long stamp, Duration age) {
        Object kept = ImmutableTypes.contain(key.spec().type()) ? new Decoded<>(value) : values.encode(value, key);
        Duration own = values.ownTtl(value, key);
        Duration left = (own == null || own.compareTo(ttl) > 0 ? ttl : own).minus(age);
        if (kept == null || left.isNegative() || left.isZero()) {
            return;
        }
        level.put(key, kept, left);
        if (stamp(key) != stamp) {
            level.remove(key);
        }
    }

    void invalidate(CacheKey<?> key) {
        stamps.incrementAndGet(slot(key));
        level.remove(key);
    }

    void clear() {
        changeStamps();
        level.clear();
    }

    /** Removes the entries of a prefix. Loads of others that run now are not put in either. */
    void clear(String prefix) {
        changeStamps();
        level.clear(prefix);
    }

    private void changeStamps() {
        for (int slot = 0; slot < SLOTS; slot++) {
            stamps.incrementAndGet(slot);
        }
    }

    private static int slot(CacheKey<?> key) {
        int hash = key.hashCode();
        return (hash ^ hash >>> 16) & SLOTS - 1;
    }
}
