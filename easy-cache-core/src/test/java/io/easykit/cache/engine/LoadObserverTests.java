package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.EntryStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LoadObserverTests {

    private final Workbench bench = new Workbench();
    private final AtomicBoolean broken = new AtomicBoolean();
    private final Observer observer = new Observer();
    private final EasyCacheEngine cache = cache(observer);
    private final CacheKey<String> key = Workbench.ap().key(1);
    private final CacheKey<String> inner = Workbench.ap().key(2);

    /** Records the observed loads as texts. */
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
        return bench.builder(new JacksonValueCodec())
                .store("default", breakable(bench.store))
                .loadObserver(by)
                .buildStopped();
    }

    /** The same store, which throws at the end of a load while it is broken. */
    private EntryStore breakable(EntryStore store) {
        return (EntryStore) Proxy.newProxyInstance(
                EntryStore.class.getClassLoader(), new Class<?>[] {EntryStore.class}, (proxy, method, arguments) -> {
                    if (broken.get() && method.getName().equals("store")) {
                        throw new IllegalStateException("a defect of the store");
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException thrown) {
                        throw thrown.getCause();
                    }
                });
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

    /** An observer of reloads that does not do its work well. */
    private EasyCacheEngine reloadedBy(Consumer<Runnable> way) {
        return cache(new LoadObserver() {
            @Override
            public Observed begin(CacheKey<?> observed) {
                return Observed.NONE;
            }

            @Override
            public void runInBackground(Runnable reload) {
                way.accept(reload);
            }
        });
    }

    private int reloads(EasyCacheEngine by) {
        AtomicInteger reloads = new AtomicInteger();
        by.fetch(key, () -> "value");
        bench.clock.advance(key.spec().options().ttl().minus(Duration.ofSeconds(1)));
        by.fetch(key, () -> "newer " + reloads.incrementAndGet());
        bench.background.runAll();
        assertThat(by.fetch(key, () -> "never")).isEqualTo("newer 1");
        return reloads.get();
    }

    @Test
    void stopsNoReloadThatItDoesNotRun() {
        try (LogCapture log = LogCapture.of(SafeObserver.class)) {
            assertThat(reloads(reloadedBy(reload -> {
                        throw new IllegalStateException("before");
                    })))
                    .isOne();
            assertThat(log.warnings()).singleElement().asString().contains("The observer of loads failed");
        }
    }

    @ParameterizedTest
    @EnumSource
    void runsAReloadOnce(Way way) {
        assertThat(reloads(reloadedBy(way))).isOne();
    }

    /** Ways to run a reload. */
    enum Way implements Consumer<Runnable> {
        NOT {
            @Override
            public void accept(Runnable reload) {}
        },
        TWICE {
            @Override
            public void accept(Runnable reload) {
                reload.run();
                reload.run();
            }
        },
        AND_FAIL {
            @Override
            public void accept(Runnable reload) {
                reload.run();
                throw new IllegalStateException("after");
            }
        }
    }

    @Test
    void hidesNoFaultOfAReload() {
        EasyCacheEngine by = reloadedBy(reload -> {
            try {
                reload.run();
            } catch (RuntimeException swallowed) {
                observer.seen.add("swallowed");
            }
        });
        by.fetch(key, () -> "value");
        bench.clock.advance(key.spec().options().ttl().minus(Duration.ofSeconds(1)));
        by.fetch(key, () -> "newer");
        broken.set(true);

        assertThatThrownBy(bench.background::runAll).hasMessage("a defect of the store");
        assertThat(observer.seen).isEmpty();
    }

    @Test
    void endsTheObservationOfALoadIfTheStoreHasADefect() {
        broken.set(true);

        assertThatThrownBy(() -> cache.fetch(key, () -> "value")).hasMessage("a defect of the store");

        assertThat(observer.seen).containsExactly("begin name::1", "FAILED name::1");
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
