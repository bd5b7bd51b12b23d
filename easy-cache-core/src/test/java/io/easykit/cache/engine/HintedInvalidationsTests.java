package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.EntryStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class HintedInvalidationsTests {

    private final Workbench bench = new Workbench();
    private final CacheSpec<String> spec = Workbench.ap()
            .withOptions(Workbench.ap().options().toBuilder()
                    .ttlJitter(0)
                    .nearTtl(Duration.ofMinutes(1))
                    .build());
    private final CacheKey<String> key = spec.key(1);
    private Consumer<String> hints = any -> {};
    private Runnable afterRead = () -> {};
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final EasyCacheEngine here = bench.builder(new JacksonValueCodec())
            .store(CacheSpec.DEFAULT_CLUSTER, withHints(bench.store))
            .nearLevels(() -> CaffeineLocalLevel.near(100, System::nanoTime))
            .background(this::run)
            .buildStopped();
    private final EasyCacheEngine elsewhere = bench.builder(new JacksonValueCodec())
            .store(CacheSpec.DEFAULT_CLUSTER, bench.store)
            .buildStopped();
    private final AtomicReference<String> database = new AtomicReference<>("old");

    /** A store whose hints a test sends. */
    @SuppressWarnings("unchecked") // the argument of onHint
    private EntryStore withHints(EntryStore store) {
        return (EntryStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {EntryStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("onHint")) {
                        hints = (Consumer<String>) arguments[0];
                        return null;
                    }
                    try {
                        Object reply = method.invoke(store, arguments);
                        if (method.getName().equals("read")) {
                            afterRead.run();
                        }
                        return reply;
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    }
                });
    }

    private void run(Runnable task) {
        Throwable fault = failure.getAndSet(null);
        if (fault instanceof Error error) {
            throw error;
        }
        if (fault instanceof RuntimeException exception) {
            throw exception;
        }
        task.run();
    }

    private String read() {
        return here.fetch(key, database::get);
    }

    /** Until a hint arrives, the near level misses it. */
    private void updateElsewhere() {
        elsewhere.update(List.of(key), () -> {
            database.set("new");
            return null;
        });
        elsewhere.invalidate(List.of(key));
        bench.clock.advance(spec.options().effectiveStaleWindow().plusMillis(1));
    }

    @Test
    void removesTheEntryAtOnce() {
        read();
        updateElsewhere();
        assertThat(read()).isEqualTo("old");

        hints.accept(key.name());

        assertThat(read()).isEqualTo("new");
    }

    @Test
    void dropsAFillThatBeganBefore() {
        elsewhere.fetch(key, database::get);
        afterRead = () -> {
            afterRead = () -> {};
            updateElsewhere();
            hints.accept(key.name());
        };
        assertThat(read()).isEqualTo("old");

        assertThat(read()).isEqualTo("new");
    }

    @Test
    void removesAllEntriesOfAClearedPrefixAtOnce() {
        read();
        database.set("new");
        elsewhere.invalidate(List.of(spec.all()));
        assertThat(read()).isEqualTo("old");

        hints.accept(spec.all().name());

        assertThat(read()).isEqualTo("new");
    }

    private static List<Throwable> failures() {
        return List.of(
                new IllegalStateException("no request is bound to this thread"),
                new OutOfMemoryError("unable to create native thread"));
    }

    /** For example a decorator of tasks that needs state of the caller's thread. */
    @ParameterizedTest
    @MethodSource("failures")
    void anExecutorThatFailsOnceDoesNotEndTheReads(Throwable once) {
        read();
        database.set("new");
        elsewhere.invalidate(List.of(spec.all()));
        failure.set(once);
        hints.accept(spec.all().name());
        assertThat(read()).isEqualTo("old");

        hints.accept(spec.all().name());

        assertThat(read()).isEqualTo("new");
    }

    @Test
    void leavesOtherEntries() {
        read();
        database.set("new");

        hints.accept(spec.key(2).name());
        hints.accept("garbage");

        assertThat(read()).isEqualTo("old");
    }
}
