package io.easykit.cache.caffeine;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import io.easykit.cache.CacheKey;
import io.easykit.cache.store.LocalLevel;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A {@link LocalLevel} that keeps at most a number of entries, each for its own short life. */
public final class CaffeineLocalLevel implements LocalLevel {

    private final Cache<CacheKey<?>, Entry> entries;

    /**
     * @param maximumSize how many entries it keeps at the most
     */
    public CaffeineLocalLevel(long maximumSize) {
        this(maximumSize, System::nanoTime);
    }

    /**
     * @param maximumSize how many entries it keeps at the most
     * @param nanoTime the clock of their lives
     */
    public CaffeineLocalLevel(long maximumSize, LongSupplier nanoTime) {
        this.entries = Caffeine.newBuilder()
                .maximumSize(maximumSize)
                .ticker(nanoTime::getAsLong)
                .expireAfter(Expiry.writing((CacheKey<?> key, Entry entry) -> entry.life()))
                .build();
    }

    @Override
    public @Nullable Object get(CacheKey<?> key) {
        Entry entry = entries.getIfPresent(key);
        return entry == null ? null : entry.value();
    }

    @Override
    public void put(CacheKey<?> key, Object value, Duration life) {
        entries.put(key, new Entry(value, life));
    }

    @Override
    public void remove(CacheKey<?> key) {
        entries.invalidate(key);
    }

    @Override
    public void clear() {
        entries.invalidateAll();
    }

    @Override
    public void clear(String prefix) {
        entries.asMap().keySet().removeIf(key -> key.spec().prefix().equals(prefix));
    }

    @Override
    public long size() {
        entries.cleanUp();
        return entries.estimatedSize();
    }

    private record Entry(Object value, Duration life) {}
}
