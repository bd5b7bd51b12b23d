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
    private final LongSupplier nanoTime;

    /** Time of the latest change, for a level whose reads do not read the clock. */
    private volatile long changedAt;

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
        this(maximumSize, nanoTime, true);
    }

    private CaffeineLocalLevel(long maximumSize, LongSupplier nanoTime, boolean readsClock) {
        this.nanoTime = nanoTime;
        this.changedAt = nanoTime.getAsLong();
        this.entries = Caffeine.newBuilder()
                .maximumSize(maximumSize)
                .ticker(readsClock ? nanoTime::getAsLong : () -> changedAt)
                .expireAfter(Expiry.writing((CacheKey<?> key, Entry entry) -> entry.life()))
                .build();
    }

    /**
     * A near level. Its user checks the end of life of each entry itself, so this level does not read the clock for reads. Expired
     * entries are removed with the next change.
     *
     * @param maximumSize how many entries it keeps at the most
     * @param nanoTime the clock of their lives
     */
    public static CaffeineLocalLevel near(long maximumSize, LongSupplier nanoTime) {
        return new CaffeineLocalLevel(maximumSize, nanoTime, false);
    }

    @Override
    public @Nullable Object get(CacheKey<?> key) {
        Entry entry = entries.getIfPresent(key);
        return entry == null ? null : entry.value();
    }

    @Override
    public void put(CacheKey<?> key, Object value, Duration life) {
        changedAt = nanoTime.getAsLong();
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
        changedAt = nanoTime.getAsLong();
        entries.cleanUp();
        return entries.estimatedSize();
    }

    private record Entry(Object value, Duration life) {}
}
