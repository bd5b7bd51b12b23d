package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.Loader;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What loaders, their callers and listeners may do to the engine. */
class LoaderTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final CacheKey<String> key = Workbench.cp().key(1);

    @Timeout(20)
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void mayReadItsOwnKey(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        CacheKey<String> own = spec.withOptions(spec.options().toBuilder()
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build())
                .key("own");
        assertThat(cache.fetch(own, () -> "outer of " + cache.fetch(own, () -> "inner")))
                .isEqualTo("outer of inner");
        assertThat(cache.fetch(own, () -> "never")).isEqualTo("outer of inner");
    }

    @Test
    void mayReadItsOwnKeyWhileTheStoreIsAway() {
        bench.store.away();
        assertThat(cache.fetch(key, () -> "outer of " + cache.fetch(key, () -> "inner")))
                .isEqualTo("outer of inner");
    }

    @Test
    void mayThrowWhatItLikes() {
        for (Throwable failure : new Throwable[] {
            new IOException("checked"), new IllegalStateException("unchecked"), new StackOverflowError("error")
        }) {
            assertThat(catchThrowable(() -> cache.fetch(key, () -> {
                        throw failure;
                    })))
                    .isSameAs(failure)
                    .hasNoSuppressedExceptions();
            assertThat(cache.fetch(Workbench.cp().key(failure.getMessage()), () -> "free"))
                    .isEqualTo("free");
        }
        assertThat(cache.fetch(key, () -> "free")).isEqualTo("free");
    }

    @Test
    void isNotStoredWhereItsCallerObjects() {
        AtomicInteger loads = new AtomicInteger();
        Loader<String, RuntimeException> loader = () -> "draft " + loads.incrementAndGet();
        assertThat(cache.fetch(key, loader, any -> false)).isEqualTo("draft 1");
        assertThat(cache.fetch(key, loader, any -> false)).isEqualTo("draft 2");
        assertThat(bench.clock.nanoTime()).isEqualTo(new ManualClock().nanoTime());
        assertThat(cache.fetch(key, loader)).isEqualTo("draft 3");
        assertThat(cache.fetch(key, loader)).isEqualTo("draft 3");
    }

    @Test
    void servesACallerThatIsInterruptedWhileItWaitsForAnotherOne() throws Exception {
        GatedLoader<String> slow = new GatedLoader<>(() -> "slow");
        Caller<String> first = Workbench.call(() -> cache.fetch(key, slow));
        slow.awaitEntered();
        AtomicReference<Boolean> flag = new AtomicReference<>();
        Caller<String> second = Workbench.call(() -> {
                    String value = cache.fetch(key, () -> "own");
                    flag.set(Thread.currentThread().isInterrupted());
                    return value;
                })
                .awaitWaiting();
        second.interrupt();
        assertThat(second.result()).isEqualTo("own");
        assertThat(flag).hasValue(true);
        slow.letGo();
        assertThat(first.result()).isEqualTo("slow");
    }

    @Test
    void servesACallerThatIsInterruptedWhileItWaitsForAnotherNode() {
        bench.store.fetch(key, 0);
        bench.clock.onPause(() -> Thread.currentThread().interrupt());
        assertThat(cache.fetch(key, () -> "own")).isEqualTo("own");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(bench.store.parts(key)).containsExactly("fill");
    }

    @Test
    void isNotDisturbedByAListenerThatThrows() {
        EasyCacheEngine disturbed = EasyCacheEngine.builder(new io.easykit.cache.jackson.JacksonValueCodec())
                .store("default", bench.store)
                .listener(new CacheListener() {
                    @Override
                    public void onMiss(CacheKey<?> any) {
                        throw new IllegalStateException("broken listener");
                    }

                    @Override
                    public void onLoad(CacheKey<?> any, Duration took, Load load) {
                        LoaderTests.<RuntimeException>sneak(new IOException("broken listener"));
                    }
                })
                .ticker(bench.clock)
                .build();
        assertThat(disturbed.fetch(key, () -> "value")).isEqualTo("value");
        assertThat(bench.store.parts(key)).containsExactly("value");
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void sneak(Exception failure) throws X {
        throw (X) failure;
    }

    @Test
    void runsOnceMoreForAStrongReaderThatUpdatesKeepOvertaking() {
        AtomicInteger loads = new AtomicInteger();
        EasyCacheEngine elsewhere = bench.node();
        assertThat(cache.fetch(key, () -> {
                    elsewhere.invalidate(key);
                    return "value " + loads.incrementAndGet();
                }))
                .isEqualTo("value 2");
        assertThat(bench.store.parts(key)).isEmpty();
        assertThat(cache.fetch(key, () -> "free")).isEqualTo("free");
    }

    @Test
    void runsNoSecondTimeWhenTheStoreLeavesAfterAnUpdateOvertookIt() {
        AtomicInteger loads = new AtomicInteger();
        EasyCacheEngine elsewhere = bench.node();
        assertThat(cache.fetch(key, () -> {
                    elsewhere.invalidate(key);
                    bench.store.fail(Operation.FETCH, Fault.LOST_REQUEST);
                    return "value " + loads.incrementAndGet();
                }))
                .isEqualTo("value 1");
    }
}
