package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.Reload;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Values that are loaded again before they expire. */
class RefreshTests {

    private static final Duration TTL = Duration.ofSeconds(20);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final AtomicInteger loads = new AtomicInteger();

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void failsAFewTimesAndSaysSoOnce(Consistency consistency) {
        CacheKey<String> key = key(consistency, TTL);
        cache.fetch(key, () -> "value");
        bench.clock.advance(TTL.minusMillis(1500));
        try (LogCapture log = LogCapture.of(FailingRefreshes.class)) {
            for (int i = 0; i < 700; i++) {
                assertThat(cache.fetch(key, this::fail)).isEqualTo("value");
                bench.background.runAll();
                bench.clock.advance(Duration.ofMillis(2));
            }
            assertThat(loads).hasValueBetween(2, 4);
            assertThat(log.warnings()).singleElement().asString().contains("name::1", "no database");
        }
    }

    @ParameterizedTest
    @EnumSource(Reload.class)
    void failsAFewTimesInsideTheStaleWindow(Reload reload) {
        CacheSpec<String> spec = Workbench.ap();
        CacheKey<String> key = spec.withOptions(
                        spec.options().toBuilder().ttl(TTL).reload(reload).build())
                .key(1);
        cache.fetch(key, () -> "value");
        bench.node().invalidate(key);
        for (int i = 0; i < 700; i++) {
            assertThat(cache.fetch(key, this::fail)).isEqualTo("value");
            bench.background.runAll();
            bench.clock.advance(Duration.ofMillis(1));
        }
        assertThat(loads).hasValueBetween(2, 4);
    }

    @Test
    void logsFailuresOfManyKeysOnceAMinute() {
        try (LogCapture log = LogCapture.of(FailingRefreshes.class)) {
            FailingRefreshes failing = new FailingRefreshes(bench.clock);
            for (int id = 0; id < 20_000; id++) {
                failing.failed(Workbench.ap().key(id), new IllegalStateException("no database"));
            }
            assertThat(log.warnings()).hasSize(1);
            assertThat(failing.mayTry(Workbench.ap().key(19_999))).isFalse();
            bench.clock.advance(Duration.ofMinutes(1));
            assertThat(failing.mayTry(Workbench.ap().key(19_999))).isTrue();
            failing.failed(Workbench.ap().key(1), new IllegalStateException("no database"));
            assertThat(log.warnings()).hasSize(2).last().asString().startsWith("20000 refreshes failed");
        }
    }

    @Test
    void saysOnceWhenAllSucceedAgain() {
        try (LogCapture log = LogCapture.of(FailingRefreshes.class)) {
            FailingRefreshes failing = new FailingRefreshes(bench.clock);
            CacheKey<String> other = Workbench.ap().key(2);
            CacheKey<String> key = key(Consistency.AP, TTL);
            for (int i = 0; i < 3; i++) {
                failing.failed(key, new IllegalStateException("no database"));
                failing.failed(other, new IllegalStateException("no database"));
            }
            failing.succeeded(key);
            failing.succeeded(key);
            assertThat(log.infos()).isEmpty();
            bench.clock.advance(Duration.ofSeconds(1));
            failing.succeeded(other);
            failing.succeeded(key);
            assertThat(log.infos()).containsExactly("Refreshes succeed again, after 6 failures");

            failing.failed(key, new IllegalStateException("no database"));
            failing.succeeded(key);
            assertThat(log.warnings()).hasSize(1);
            assertThat(log.infos()).hasSize(1);
        }
    }

    /** Its value has expired meanwhile, and a reader has loaded the next one. */
    @Test
    void saysThatAllSucceedAgainWhenAReaderHasLoaded() {
        CacheKey<String> key = key(Consistency.CP, TTL);
        cache.fetch(key, () -> "value");
        bench.clock.advance(TTL.minusMillis(1500));
        try (LogCapture log = LogCapture.of(FailingRefreshes.class)) {
            cache.fetch(key, this::fail);
            bench.background.runAll();
            bench.clock.advance(TTL);
            cache.fetch(key, () -> "new");
            assertThat(log.infos()).hasSize(1);
        }
    }

    @Test
    void isTriedAgainAfterAPause() {
        CacheKey<String> key = key(Consistency.CP, TTL);
        cache.fetch(key, () -> "value");
        bench.clock.advance(TTL.minusMillis(1500));
        cache.fetch(key, this::fail);
        bench.background.runAll();
        bench.clock.advance(Duration.ofMillis(200));
        cache.fetch(key, () -> "new");
        bench.background.runAll();
        assertThat(cache.fetch(key, this::fail)).isEqualTo("new");
        assertThat(loads).hasValue(1);
    }

    /** "Nothing" lives shorter than the refresh zone of a value. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isAPartOfTheLifeOfNothingToo(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        CacheKey<String> key = spec.withOptions(spec.options().toBuilder()
                        .nullTtl(Duration.ofSeconds(1))
                        .build())
                .key(1);
        for (int i = 0; i < 300; i++) {
            assertThat(cache.fetch(key, () -> {
                        loads.incrementAndGet();
                        return null;
                    }))
                    .isNull();
            bench.background.runAll();
            bench.clock.advance(Duration.ofMillis(10));
        }
        assertThat(loads).hasValueLessThan(8);
    }

    private static CacheKey<String> key(Consistency consistency, Duration ttl) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        return spec.withOptions(spec.options().toBuilder().ttl(ttl).build()).key(1);
    }

    private String fail() {
        loads.incrementAndGet();
        throw new IllegalStateException("no database");
    }
}
