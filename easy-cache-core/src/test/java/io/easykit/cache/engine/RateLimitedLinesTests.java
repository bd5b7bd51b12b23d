package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Faults that each call meets write one line a minute, and the others at level DEBUG. */
class RateLimitedLinesTests {

    private static final int CALLS = 1_000;
    private static final Duration TTL = Duration.ofMinutes(30);

    private final Workbench bench = new Workbench();
    private final CacheKey<String> key = Workbench.ap().key(1);

    private EasyCacheEngine.Builder builder() {
        return bench.builder(new JacksonValueCodec());
    }

    /** Its executor can start no thread. */
    private EasyCacheEngine withoutThreads() {
        return builder()
                .background(task -> {
                    throw new OutOfMemoryError("unable to create native thread");
                })
                .buildStopped();
    }

    private static CacheSpec<String> spec(CacheOptions.Builder options) {
        return Workbench.ap().withOptions(options.ttl(TTL).ttlJitter(0).build());
    }

    private void writesOneWarningAMinute(Class<?> source, String line, Runnable call) {
        try (LogCapture log = LogCapture.of(source)) {
            for (int i = 0; i < CALLS; i++) {
                call.run();
            }
            log.withDebugs();
            call.run();
            assertThat(log.warnings()).singleElement().asString().contains(line);
            assertThat(log.debugs()).isNotEmpty();
            bench.clock.advance(Duration.ofMinutes(1));
            call.run();
            assertThat(log.warnings()).hasSize(2);
        }
    }

    @Test
    void aListenerThatThrowsAtEachHit() {
        EasyCacheEngine cache = builder()
                .listener(new CacheListener() {
                    @Override
                    public void onHit(CacheKey<?> hit, Hit how) {
                        throw new UnprintableFailureTests.Unprintable();
                    }
                })
                .buildStopped();
        cache.fetch(key, () -> "value");

        writesOneWarningAMinute(SafeListener.class, "The cache listener", () -> cache.fetch(key, () -> "never"));
    }

    @Test
    void anObserverThatThrowsAtEachLoad() {
        EasyCacheEngine cache = builder()
                .loadObserver(loaded -> {
                    throw new UnprintableFailureTests.Unprintable();
                })
                .buildStopped();

        writesOneWarningAMinute(
                SafeObserver.class,
                "The observer of loads failed",
                () -> cache.fetch(key, () -> "value", any -> false));
    }

    @Test
    void anObserverThatThrowsAtEachEnd() {
        LoadObserver.Observed broken = (outcome, failure) -> {
            throw new IllegalStateException("no span");
        };
        EasyCacheEngine cache = builder().loadObserver(loaded -> broken).buildStopped();

        writesOneWarningAMinute(
                SafeObserver.class,
                "The observer of loads failed",
                () -> cache.fetch(key, () -> "value", any -> false));
    }

    @Test
    void refreshesWithoutThreads() {
        EasyCacheEngine cache = withoutThreads();
        CacheSpec<String> spec = spec(CacheOptions.builder().refreshAhead(TTL.dividedBy(2)));
        cache.fetch(spec.key(1), () -> "value");
        bench.clock.advance(TTL.minusMinutes(2));

        writesOneWarningAMinute(
                Refreshes.class, "Cannot refresh name::1", () -> cache.fetch(spec.key(1), () -> "newer"));
    }

    @Test
    void refreshesOfABatchWithoutThreads() {
        EasyCacheEngine cache = withoutThreads();
        CacheSpec<String> spec = spec(CacheOptions.builder().refreshAhead(TTL.dividedBy(2)));
        List<Integer> ids = List.of(1, 2);
        cache.fetchAll(spec, ids, new BatchSource());
        bench.clock.advance(TTL.minusMinutes(2));

        writesOneWarningAMinute(
                BatchRefreshes.class, "Cannot refresh 2 elements", () -> cache.fetchAll(spec, ids, new BatchSource()));
    }

    @Test
    void loadsWithASoftTimeoutWithoutThreads() {
        EasyCacheEngine cache = withoutThreads();
        CacheSpec<String> spec = spec(CacheOptions.builder()
                .refreshAhead(Duration.ZERO)
                .staleOnError(StaleOnErrorOptions.keptFor(TTL).withLoadSoftTimeout(Duration.ofSeconds(1))));
        cache.fetch(spec.key(1), () -> "old");
        bench.clock.advance(TTL);

        writesOneWarningAMinute(
                SoftTimeoutLoads.class, "Cannot load name::1", () -> cache.fetch(spec.key(1), () -> "new"));
    }

    /** A burst of refreshes is no fault: later readers try again. */
    @Test
    void refreshesWithoutAFreeThreadWriteNoWarning() {
        EasyCacheEngine cache = bench.node();
        CacheSpec<String> spec = spec(CacheOptions.builder().refreshAhead(TTL.dividedBy(2)));
        List<Integer> ids = List.of(1, 2);
        cache.fetchAll(spec, ids, new BatchSource());
        bench.clock.advance(TTL.minusMinutes(2));
        bench.background.setFull(true);

        try (LogCapture one = LogCapture.of(Refreshes.class).withDebugs();
                LogCapture several = LogCapture.of(BatchRefreshes.class).withDebugs()) {
            cache.fetch(spec.key(1), () -> "newer");
            cache.fetchAll(spec, ids, new BatchSource());
            assertThat(one.warnings()).isEmpty();
            assertThat(one.debugs()).containsExactly("No thread is free to refresh name::1");
            assertThat(several.warnings()).isEmpty();
            assertThat(several.debugs()).containsExactly("No thread is free to refresh 2 elements");
        }

        bench.background.setFull(false);
        cache.fetch(spec.key(1), () -> "newer");
        assertThat(bench.background.size()).isOne();
    }
}
