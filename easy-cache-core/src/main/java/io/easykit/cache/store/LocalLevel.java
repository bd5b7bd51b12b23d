package io.easykit.cache.store;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Values in this JVM for AP reads while Redis is away: a bounded number, for a short time. They are never written to Redis.
 */
public interface LocalLevel {

    /** Keeps nothing. */
    LocalLevel NONE = new LocalLevel() {
        @Override
        public @Nullable Object get(CacheKey<?> key) {
            return null;
        }

        @Override
        public void put(CacheKey<?> key, Object value, Duration life) {}

        @Override
        public void remove(CacheKey<?> key) {}

        @Override
        public void clear() {}

        @Override
        public long size() {
            return 0;
        }
    };

    @Nullable Object get(CacheKey<?> key);

    void put(CacheKey<?> key, Object value, Duration life);

    void remove(CacheKey<?> key);

    void clear();

    /** Removes the entries of a prefix, and others if that is simpler. */
    default void clear(String prefix) {
        clear();
    }

    long size();
}
