package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.Fetched;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** JVMs with one store between them. */
class SeveralNodesTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine here = bench.node();
    private final EasyCacheEngine there = bench.node();

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void waitForNewsOfALoadElsewhere(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        GatedLoader<String> loader = new GatedLoader<>(() -> "value");
        Caller<String> loading = Workbench.call(() -> there.fetch(key, loader));
        loader.awaitEntered();
        AtomicInteger looks = new AtomicInteger();
        bench.clock.onPause(() -> {
            if (looks.incrementAndGet() == 3) {
                finish(loader, loading);
            }
        });
        long startedAt = bench.clock.nanoTime();
        assertThat(here.fetch(key, () -> "never")).isEqualTo("value");
        assertThat(looks).hasValue(3);
        assertThat(Duration.ofNanos(bench.clock.nanoTime() - startedAt)).isLessThan(Duration.ofMillis(50));
        assertThat(bench.store.count(Operation.FETCH)).isEqualTo(2);
    }

    @Test
    void loadAtOnceAfterALoadElsewhereFailed() throws Exception {
        CacheKey<String> key = Workbench.cp().key(1);
        GatedLoader<String> failing = new GatedLoader<>(() -> "never");
        Caller<Object> loading = Workbench.call(() -> there.fetch(key, () -> {
            failing.load();
            throw new IllegalStateException("no database");
        }));
        failing.awaitEntered();
        AtomicInteger looks = new AtomicInteger();
        bench.clock.onPause(() -> {
            if (looks.incrementAndGet() == 2) {
                failing.letGo();
                try {
                    loading.failure();
                } catch (Exception impossible) {
                    throw new AssertionError(impossible);
                }
            }
        });
        assertThat(here.fetch(key, () -> "value")).isEqualTo("value");
        assertThat(looks).hasValue(2);
    }

    @Test
    void takeOverWhenTheLoadLeaseOfACrashedLoaderIsOver() {
        CacheKey<String> key = Workbench.cp().key(1);
        Fetched crashed = bench.store.fetch(key, 0);
        long startedAt = bench.clock.nanoTime();
        assertThat(here.fetch(key, () -> "value")).isEqualTo("value");
        Duration waited = Duration.ofNanos(bench.clock.nanoTime() - startedAt);
        assertThat(waited).isBetween(Duration.ofSeconds(1), Duration.ofMillis(1060));
        assertThat(bench.store.parts(key)).containsExactly("value");
        assertThat(crashed).isInstanceOf(Fetched.Leased.class);
    }

    @Test
    void storeWhatALoaderFourTimesSlowerThanItsElectionBrings() throws Exception {
        CacheKey<String> key = Workbench.cp().key(1);
        GatedLoader<String> slow = new GatedLoader<>(() -> "slow");
        Caller<String> loading = Workbench.call(() -> there.fetch(key, slow));
        slow.awaitEntered();
        GatedLoader<String> successor = new GatedLoader<>(() -> "successor");
        bench.clock.advance(key.spec().options().loadLease().multipliedBy(4));
        Caller<String> second = Workbench.call(() -> here.fetch(key, successor));
        successor.awaitEntered();
        slow.letGo();
        assertThat(loading.result()).isEqualTo("slow");
        assertThat(there.fetch(key, () -> "never")).isEqualTo("slow");
        successor.letGo();
        assertThat(second.result()).isEqualTo("slow");
        assertThat(here.fetch(key, () -> "never")).isEqualTo("slow");
    }

    @Test
    void waitForNoMoreThanTwoLoadsElsewhereThatUpdatesOvertake() {
        CacheKey<String> key = Workbench.cp().key(1);
        EasyCacheEngine updater = bench.node();
        bench.store.fetch(key, 0);
        AtomicInteger overtaken = new AtomicInteger();
        bench.clock.onPause(() -> {
            overtaken.incrementAndGet();
            updater.invalidate(key);
            bench.store.onNext(Operation.FETCH, () -> bench.store.fetch(key, 0));
        });
        assertThat(here.fetch(key, () -> "own")).isEqualTo("own");
        assertThat(overtaken).hasValue(2);
    }

    @Test
    void loadWithoutStoringWhenTheWaitingTimeIsOver() throws Exception {
        CacheSpec<String> spec = Workbench.cp();
        CacheOptions impatient = spec.options().toBuilder()
                .loadWaitTimeout(Duration.ofMillis(500))
                .loadLease(Duration.ofMinutes(1))
                .build();
        CacheKey<String> key = spec.withOptions(impatient).key(1);
        GatedLoader<String> slow = new GatedLoader<>(() -> "slow");
        Caller<String> loading = Workbench.call(() -> there.fetch(key, slow));
        slow.awaitEntered();
        long startedAt = bench.clock.nanoTime();
        assertThat(here.fetch(key, () -> "own")).isEqualTo("own");
        assertThat(Duration.ofNanos(bench.clock.nanoTime() - startedAt)).isEqualTo(impatient.loadWaitTimeout());
        assertThat(bench.store.parts(key)).containsExactly("fill");
        slow.letGo();
        assertThat(loading.result()).isEqualTo("slow");
        assertThat(here.fetch(key, () -> "never")).isEqualTo("slow");
    }

    @Test
    void loadWithoutStoringOneAtATimeInAJvm() throws Exception {
        CacheSpec<String> spec = Workbench.cp();
        CacheOptions impatient = spec.options().toBuilder()
                .loadWaitTimeout(Duration.ZERO)
                .loadLease(Duration.ofMinutes(1))
                .build();
        CacheKey<String> key = spec.withOptions(impatient).key(1);
        bench.store.fetch(key, 0);
        GatedLoader<String> own = new GatedLoader<>(() -> "own");
        Caller<String> first = Workbench.call(() -> here.fetch(key, own));
        own.awaitEntered();
        AtomicInteger more = new AtomicInteger();
        Caller<String> second = Workbench.call(() -> here.fetch(key, () -> "own " + more.incrementAndGet()))
                .awaitWaiting();
        assertThat(more).hasValue(0);
        own.letGo();
        assertThat(first.result()).isEqualTo("own");
        assertThat(second.result()).isEqualTo("own");
        assertThat(more).hasValue(0);
    }

    @Test
    void loadAgainForAStrongReaderThatCameDuringALoadThatIsNotStored() throws Exception {
        CacheSpec<String> spec = Workbench.cp();
        CacheOptions impatient = spec.options().toBuilder()
                .loadWaitTimeout(Duration.ZERO)
                .loadLease(Duration.ofMinutes(1))
                .build();
        CacheKey<String> key = spec.withOptions(impatient).key(1);
        bench.store.fetch(key, 0);
        GatedLoader<String> early = new GatedLoader<>(() -> "old");
        Caller<String> first = Workbench.call(() -> here.fetch(key, early));
        early.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        Caller<String> second =
                Workbench.call(() -> here.fetch(key, () -> "new")).awaitWaiting();
        early.letGo();
        assertThat(first.result()).isEqualTo("old");
        assertThat(second.result()).isEqualTo("new");
    }

    private static void finish(GatedLoader<?> loader, Caller<?> loading) {
        loader.letGo();
        try {
            loading.result();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }
}
