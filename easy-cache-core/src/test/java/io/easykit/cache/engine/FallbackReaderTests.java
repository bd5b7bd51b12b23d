package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FallbackReaderTests {

    private static final Duration LOCAL_LIFE = Duration.ofSeconds(5);

    private final Workbench bench = new Workbench();
    private final CacheKey<String> ap = Workbench.ap().key(1);
    private final CacheKey<String> cp = Workbench.cp().key(1);

    @Test
    void failsAStrongReadIfThatWasChosen() {
        EasyCacheEngine cache = bench.node(options(2, CpReads.FAIL, CpUpdates.REFUSE));
        bench.store.away();
        AtomicInteger loads = new AtomicInteger();
        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> cache.fetch(cp, () -> "value " + loads.incrementAndGet()))
                .withMessageContaining("Redis 'default'")
                .withMessageContaining("Repeat the call")
                .matches(failure -> failure.clusterId().equals("default"));
        assertThat(loads).hasValue(0);
        assertThat(cache.fetch(ap, () -> "value")).isEqualTo("value");
        bench.store.back();
        assertThat(cache.fetch(cp, () -> "value")).isEqualTo("value");
    }

    @Test
    void letsAStrongUpdateProceedIfThatWasChosen() {
        EasyCacheEngine cache = bench.node(options(2, CpReads.BYPASS, CpUpdates.PROCEED));
        bench.node().fetch(cp, () -> "old");
        bench.store.away();
        AtomicBoolean changed = new AtomicBoolean();
        cache.update(List.of(cp), () -> {
            changed.set(true);
            return null;
        });
        assertThat(changed).isTrue();
        assertThat(cache.undelivered("default")).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void loadsOnlySoManyAtATime(Consistency consistency) throws Exception {
        EasyCacheEngine cache = bench.node(options(2, CpReads.BYPASS, CpUpdates.REFUSE));
        bench.store.away();
        List<GatedLoader<String>> loaders = new ArrayList<>();
        List<Caller<String>> readers = new ArrayList<>();
        for (int id = 0; id < 5; id++) {
            GatedLoader<String> loader = new GatedLoader<>(() -> "value");
            CacheKey<String> key = Workbench.spec(consistency).key(id);
            loaders.add(loader);
            readers.add(Workbench.call(() -> cache.fetch(key, loader)).awaitWaiting());
        }
        assertThat(loaders.stream().mapToInt(GatedLoader::loads).sum()).isEqualTo(2);
        loaders.forEach(GatedLoader::letGo);
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("value");
        }
    }

    @Test
    void countsTheAgeOfALocalValueFromTheBeginningOfItsLoad() {
        EasyCacheEngine cache = bench.node(options(2, CpReads.BYPASS, CpUpdates.REFUSE));
        bench.cutOff(cache);
        assertThat(cache.fetch(ap, () -> {
                    bench.clock.advance(LOCAL_LIFE);
                    return "old";
                }))
                .isEqualTo("old");
        assertThat(cache.fetch(ap, () -> "new")).isEqualTo("new");
        assertThat(cache.fetch(ap, () -> "newer")).isEqualTo("new");
    }

    /** One load of a key at a time, whether its readers reach the store or not. */
    @Test
    void sharesTheLoadOfAReaderThatReachedTheStore() throws Exception {
        EasyCacheEngine cache = bench.node(options(2, CpReads.BYPASS, CpUpdates.REFUSE));
        bench.store.away();
        cache.invalidate(ap);
        bench.store.back();
        GatedLoader<String> loader = new GatedLoader<>(() -> "value");
        Caller<String> first = Workbench.call(() -> cache.fetch(ap, loader));
        loader.awaitEntered();
        bench.store.away();

        Caller<String> second = Workbench.call(() -> cache.fetch(ap, loader)).awaitWaiting();

        loader.letGo();
        assertThat(first.result()).isEqualTo("value");
        assertThat(second.result()).isEqualTo("value");
        assertThat(loader.loads()).isEqualTo(1);
    }

    private static DegradedOptions options(int loads, CpReads reads, CpUpdates updates) {
        return new DegradedOptions(LOCAL_LIFE, loads, reads, updates, ApUpdates.PROCEED, 100);
    }
}
