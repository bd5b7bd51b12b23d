package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LoadObserverTests {

    private final Workbench bench = new Workbench();
    private final Observer observer = new Observer();
    private final EasyCacheEngine cache = cache(observer);
    private final CacheKey<String> key = Workbench.ap().key(1);
    private final CacheKey<String> inner = Workbench.ap().key(2);

    /** What it has observed, as texts. */
    private static final class Observer implements LoadObserver {

        private final List<String> seen = new ArrayList<>();

        @Override
        public Observed begin(CacheKey<?> observed) {
            seen.add("begin " + observed.name());
            return (Load outcome, @Nullable Throwable failure) ->
                    seen.add(outcome + " " + observed.name() + (failure == null ? "" : " " + failure.getMessage()));
        }

        @Override
        public void runInBackground(Runnable reload) {
            seen.add("background");
            reload.run();
            seen.add("background over");
        }
    }

    private EasyCacheEngine cache(LoadObserver by) {
        return bench.builder(new JacksonValueCodec()).loadObserver(by).buildStopped();
    }

    @Test
    void seesALoadAroundItsLoaderAndNoHit() {
        cache.fetch(key, () -> {
            observer.seen.add("load");
            return "value";
        });
        cache.fetch(key, () -> "never");
        assertThat(observer.seen).containsExactly("begin name::1", "load", "STORED name::1");
    }

    @Test
    void seesWhatBecameOfALoad() {
        cache.fetch(key, () -> {
            bench.node().invalidate(key);
            return "value";
        });
        cache.fetch(key, () -> "value", any -> false);
        assertThatThrownBy(() -> cache.fetch(key, () -> {
                    throw new IllegalStateException("no database");
                }))
                .hasMessage("no database");
        bench.store.away();
        cache.fetch(inner, () -> "value");
        assertThat(observer.seen)
                .containsExactly(
                        "begin name::1",
                        "REJECTED name::1",
                        "begin name::1",
                        "NOT_STORED name::1",
                        "begin name::1",
                        "FAILED name::1 no database",
                        "begin name::2",
                        "NOT_STORED name::2");
    }

    @Test
    void seesALoadInsideAnotherOne() {
        cache.fetch(key, () -> cache.fetch(inner, () -> "value"));
        assertThat(observer.seen).containsExactly("begin name::1", "begin name::2", "STORED name::2", "STORED name::1");
    }

    @Test
    void runsReloadsForWhichNoCallerWaits() {
        cache.fetch(key, () -> "value");
        observer.seen.clear();
        bench.clock.advance(key.spec().options().ttl().minus(Duration.ofSeconds(1)));
        cache.fetch(key, () -> "newer");
        bench.background.runAll();
        assertThat(observer.seen).containsExactly("background", "begin name::1", "STORED name::1", "background over");
    }

    @Test
    void endsNoLoadByItsOwnFailure() {
        EasyCacheEngine first = cache(any -> {
            throw new IllegalStateException("begin");
        });
        assertThat(first.fetch(key, () -> "value")).isEqualTo("value");
        EasyCacheEngine second = cache(any -> (outcome, failure) -> {
            throw new IllegalStateException("end");
        });
        assertThat(second.fetch(inner, () -> "value")).isEqualTo("value");
        assertThat(second.fetch(inner, () -> "never")).isEqualTo("value");
    }
}
