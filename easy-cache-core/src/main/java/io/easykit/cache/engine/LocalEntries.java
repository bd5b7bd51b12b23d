package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.ValueEnvelopes.Decoded;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.LocalLevel;
import io.easykit.cache.type.ImmutableTypes;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The local level, fenced like the store: a value that was loaded before an invalidation is not returned after it. It returns and
 * takes values only while the store is unavailable: a single call that fails gives no reader a value that updates of other nodes
 * have not reached.
 *
 * <p>A reader takes a {@linkplain InvalidationStamps stamp} before it loads. An entry is returned only while its stamp holds, so one that
 * is put in too late is never seen.
 *
 * <p>Immutable values are kept as they are, others as bytes, so that each reader has an object of its own, as from Redis.
 */
final class LocalEntries {

    private final LocalLevel level;
    private final ValueEnvelopes values;
    private final Duration ttl;
    private final Predicate<CacheKey<?>> unavailable;
    private final InvalidationStamps stamps = new InvalidationStamps();

    /**
     * @param ttl longest life of an entry
     * @param unavailable whether the store of a key is unavailable
     */
    LocalEntries(LocalLevel level, ValueEnvelopes values, Duration ttl, Predicate<CacheKey<?>> unavailable) {
        this.level = level;
        this.values = values;
        this.ttl = ttl;
        this.unavailable = unavailable;
    }

    /**
     * A value of the local level.
     *
     * @param kept the decoded value if it is immutable, else its bytes
     * @param type of the value: two caches of one prefix may have different ones
     * @param stamp taken before the value was loaded
     */
    private record Entry(Object kept, Type type, long stamp) {}

    @SuppressWarnings("unchecked") // of the same type, and decoded
    <V> @Nullable Decoded<V> get(CacheKey<V> key) {
        if (!unavailable.test(key)
                || !(level.get(key) instanceof Entry entry)
                || stamps.of(key) != entry.stamp
                || !entry.type.equals(key.spec().type())) {
            return null;
        }
        return entry.kept instanceof Envelope envelope ? values.decode(envelope, key) : (Decoded<V>) entry.kept;
    }

    long stamp(CacheKey<?> key) {
        return stamps.of(key);
    }

    /**
     * @param age of the value: how long it took to load
     */
    <V> void put(CacheKey<V> key, @Nullable V value, long stamp, Duration age) {
        if (!unavailable.test(key)) {
            return;
        }
        Object kept = ImmutableTypes.contain(key.spec().type()) ? new Decoded<>(value) : values.encode(value, key);
        Duration stored = values.ttl(value, key);
        Duration left = (stored.compareTo(ttl) > 0 ? ttl : stored).minus(age);
        // If Redis has recovered since the first check, the stamp has changed or soon will.
        if (kept == null || left.isNegative() || left.isZero() || stamps.of(key) != stamp) {
            return;
        }
        level.put(key, new Entry(kept, key.spec().type(), stamp), left);
    }

    void invalidate(CacheKey<?> key) {
        stamps.change(key);
        level.remove(key);
    }

    void clear() {
        stamps.changeAll();
        level.clear();
    }

    /** Removes the entries of a prefix. */
    void clear(String prefix) {
        stamps.changeAll(prefix);
        level.clear(prefix);
    }
}
