package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.Loader;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class UnavailableStoreTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final CacheKey<String> ap = Workbench.ap().key(1);

    static Stream<Arguments> everyFaultOfEveryOperation() {
        return Stream.of(Consistency.values())
                .flatMap(consistency -> Stream.of(Operation.values()).flatMap(operation -> Stream.of(Fault.values())
                        .map(fault -> Arguments.of(consistency, operation, fault))));
    }

    @ParameterizedTest
    @MethodSource("everyFaultOfEveryOperation")
    void leavesTheCallerWithOneLoad(Consistency consistency, Operation operation, Fault fault) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        bench.store.fail(operation, fault);
        AtomicInteger loads = new AtomicInteger();
        assertThat(cache.fetch(key, () -> "value " + loads.incrementAndGet())).isEqualTo("value 1");
        assertThat(loads).hasValue(1);
    }

    @ParameterizedTest
    @MethodSource("everyFaultOfEveryOperation")
    void leavesTheCallerWithTheVeryException(Consistency consistency, Operation operation, Fault fault)
            throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        bench.store.fail(operation, fault);
        IllegalStateException failure = new IllegalStateException("no database");
        AtomicInteger loads = new AtomicInteger();
        Caller<String> reader = Workbench.call(() -> cache.fetch(key, () -> {
            loads.incrementAndGet();
            throw failure;
        }));
        assertThat(reader.failure()).isSameAs(failure).hasNoCause().hasNoSuppressedExceptions();
        assertThat(loads).hasValue(1);
    }

    @ParameterizedTest
    @MethodSource("everyFaultOfEveryOperation")
    void makesNothingStale(Consistency consistency, Operation operation, Fault fault) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        bench.store.failNext(operation, fault);
        cache.fetch(key, () -> "old");
        bench.store.back();
        cache.invalidate(key);
        bench.clock.advance(key.spec().options().staleWindow());
        assertThat(cache.fetch(key, () -> "new")).isEqualTo("new");
        bench.clock.advance(key.spec().options().loadLease());
        assertThat(bench.node().fetch(key, () -> "newer")).isEqualTo("new");
    }

    @Test
    void servesTheHitWhoseRefreshCannotBeAsked() {
        cache.fetch(ap, () -> "value");
        bench.clock.advance(ap.spec().options().ttl().minusSeconds(1));
        assertThat(cache.fetch(ap, () -> "never")).isEqualTo("value");
        bench.store.away();
        bench.background.runAll();
        bench.store.back();
        assertThat(cache.fetch(ap, () -> "never")).isEqualTo("value");
    }

    @Test
    void answersWeakReadsFromTheLocalLevel() {
        bench.cutOff(cache);
        AtomicInteger loads = new AtomicInteger();
        Loader<String, RuntimeException> loader = () -> "value " + loads.incrementAndGet();
        assertThat(cache.fetch(ap, loader)).isEqualTo("value 1");
        assertThat(cache.fetch(ap, loader)).isEqualTo("value 1");
        assertThat(bench.events.next()).containsExactly("miss", "load NOT_STORED", "hit LOCAL");
        cache.invalidate(ap);
        assertThat(cache.fetch(ap, loader)).isEqualTo("value 2");
    }

    @Test
    void keepsNothingLocallyThatItsCallerWillNotHaveStored() {
        bench.cutOff(cache);
        AtomicInteger loads = new AtomicInteger();
        Loader<String, RuntimeException> loader = () -> "value " + loads.incrementAndGet();
        assertThat(cache.fetch(ap, loader, any -> false)).isEqualTo("value 1");
        assertThat(cache.fetch(ap, loader)).isEqualTo("value 2");
    }

    @Test
    void letsStrongReadsLoad() {
        bench.store.away();
        CacheKey<String> cp = Workbench.cp().key(1);
        AtomicInteger loads = new AtomicInteger();
        for (int i = 1; i <= 3; i++) {
            assertThat(cache.fetch(cp, () -> "value " + loads.incrementAndGet()))
                    .isEqualTo("value " + i);
        }
    }

    @Test
    void keepsNothingLocallyThatWasReadBeforeAnInvalidation() throws Exception {
        bench.cutOff(cache);
        GatedLoader<String> loader = new GatedLoader<>(() -> "old");
        Caller<String> early = Workbench.call(() -> cache.fetch(ap, loader));
        loader.awaitEntered();
        cache.invalidate(ap);
        Caller<String> late = Workbench.call(() -> cache.fetch(ap, () -> "new")).awaitWaiting();
        loader.letGo();
        assertThat(early.result()).isEqualTo("old");
        assertThat(late.result()).isEqualTo("old");
        assertThat(cache.fetch(ap, () -> "new")).isEqualTo("new");
    }

    @Test
    void givesEachReaderAnObjectOfItsOwnWhereItCanBeChanged() {
        CacheKey<List<String>> names = CacheSpec.<List<String>>of(
                        "names", new org.springframework.core.ParameterizedTypeReference<List<String>>() {}.getType())
                .key(1);
        bench.cutOff(cache);
        cache.fetch(names, () -> new ArrayList<>(List.of("Ada")));
        List<String> first = cache.fetch(names, List::of);
        first.add("Bob");
        assertThat(cache.fetch(names, List::of)).containsExactly("Ada");
        String text = cache.fetch(ap, () -> "Ada");
        assertThat(cache.fetch(ap, () -> "never")).isSameAs(text);
    }
}
