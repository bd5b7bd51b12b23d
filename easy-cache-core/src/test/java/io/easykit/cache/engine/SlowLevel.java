package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.store.LocalLevel;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A local level with pauses before each get and around each put. */
final class SlowLevel implements LocalLevel {

    private final LocalLevel level = CaffeineLocalLevel.near(10, System::nanoTime);
    Consumer<CacheKey<?>> beforeGet = any -> {};
    Consumer<CacheKey<?>> beforePut = any -> {};
    Consumer<CacheKey<?>> afterPut = any -> {};

    @Override
    public @Nullable Object get(CacheKey<?> key) {
        beforeGet.accept(key);
        return level.get(key);
    }

    @Override
    public void put(CacheKey<?> key, Object value, Duration life) {
        beforePut.accept(key);
        level.put(key, value, life);
        afterPut.accept(key);
    }

    @Override
    public void remove(CacheKey<?> key) {
        level.remove(key);
    }

    @Override
    public void clear() {
        level.clear();
    }

    @Override
    public long size() {
        return level.size();
    }
}
