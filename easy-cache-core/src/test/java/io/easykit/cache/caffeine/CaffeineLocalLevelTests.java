package io.easykit.cache.caffeine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CaffeineLocalLevelTests {

    private static final Duration LIFE = Duration.ofSeconds(1);

    private final AtomicLong now = new AtomicLong(-5);
    private final AtomicInteger clockReads = new AtomicInteger();
    private final CacheKey<String> key = CacheSpec.of("name", String.class).key(1);
    private final CacheKey<String> other = CacheSpec.of("name", String.class).key(2);

    @Test
    void anExpiredEntryIsNotReturned() {
        CaffeineLocalLevel level = new CaffeineLocalLevel(10, now::get);
        level.put(key, "Ada", LIFE);
        now.addAndGet(LIFE.toNanos() - 1);
        assertThat(level.get(key)).isEqualTo("Ada");
        now.addAndGet(1);
        assertThat(level.get(key)).isNull();
    }

    @Test
    void aHitOfANearLevelDoesNotReadTheClock() {
        CaffeineLocalLevel level = CaffeineLocalLevel.near(10, this::time);
        level.put(key, "Ada", LIFE);
        clockReads.set(0);

        assertThat(level.get(key)).isEqualTo("Ada");
        assertThat(level.get(other)).isNull();
        level.remove(other);

        assertThat(clockReads).hasValue(0);
    }

    @Test
    void aNearLevelRemovesExpiredEntriesWithTheNextChange() {
        CaffeineLocalLevel level = CaffeineLocalLevel.near(10, this::time);
        level.put(key, "Ada", LIFE);
        now.addAndGet(LIFE.toNanos());

        level.put(other, "Bob", LIFE);

        assertThat(level.get(key)).isNull();
        assertThat(level.get(other)).isEqualTo("Bob");
    }

    @Test
    void theSizeOfANearLevelHasNoExpiredEntries() {
        CaffeineLocalLevel level = CaffeineLocalLevel.near(10, this::time);
        level.put(key, "Ada", LIFE);
        assertThat(level.size()).isEqualTo(1);
        now.addAndGet(LIFE.toNanos());
        assertThat(level.size()).isZero();
    }

    private long time() {
        clockReads.incrementAndGet();
        return now.get();
    }
}
