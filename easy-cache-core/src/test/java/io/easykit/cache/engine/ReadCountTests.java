package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each read is one hit or one miss, also if Redis is away or refuses a call in the middle. */
class ReadCountTests {

    private static final List<Integer> IDS = List.of(1, 2, 3);

    private final Workbench bench = new Workbench();

    @AutoClose("shutdownNow")
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private final EasyCacheEngine cache =
            bench.builder(new JacksonValueCodec()).async(threads).buildStopped();

    /** The same read, made in one of three ways. */
    enum Way {
        SYNC {
            @Override
            void read(EasyCacheEngine cache, CacheKey<String> key) {
                assertThat(cache.fetch(key, () -> "value")).isEqualTo("value");
            }
        },
        ASYNC {
            @Override
            void read(EasyCacheEngine cache, CacheKey<String> key) throws Exception {
                assertThat(cache.async()
                                .fetch(key, () -> CompletableFuture.completedFuture("value"))
                                .get(30, TimeUnit.SECONDS))
                        .isEqualTo("value");
            }
        },
        BATCH {
            @Override
            void read(EasyCacheEngine cache, CacheKey<String> key) {
                assertThat(cache.fetchAll(key.spec(), List.of(1), new BatchSource()))
                        .hasSize(1);
            }
        };

        abstract void read(EasyCacheEngine cache, CacheKey<String> key) throws Exception;
    }

    private List<String> reads() {
        return bench.events.next().stream()
                .filter(event -> !event.startsWith("load"))
                .toList();
    }

    private static CacheSpec<String> kept() {
        CacheSpec<String> spec = Workbench.ap();
        CacheOptions options = spec.options().toBuilder()
                .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofHours(1)))
                .build();
        return spec.withOptions(options);
    }

    @ParameterizedTest
    @EnumSource
    void eachStrongReadIsAMissWhileRedisIsAway(Way way) throws Exception {
        bench.store.answeringLater();
        bench.cutOff(cache);
        for (int i = 0; i < 3; i++) {
            way.read(cache, Workbench.cp().key(1));
        }
        assertThat(reads()).containsExactly("miss", "miss", "miss");
    }

    @Test
    void eachElementOfAStrongBatchIsAMissWhileRedisIsAway() {
        bench.cutOff(cache);
        cache.fetchAll(Workbench.cp(), IDS, new BatchSource());
        assertThat(reads()).containsExactly("miss", "miss", "miss");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void aReadInATransactionIsAMissWhileRedisIsAway(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        bench.cutOff(cache);
        bench.transactions.begin();
        cache.fetch(spec.key(1), () -> "value");
        cache.fetchAll(spec, IDS, new BatchSource());
        bench.transactions.rollback();
        assertThat(reads()).containsExactly("miss", "miss", "miss", "miss");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void aReadInsideALoadIsAMissWhileRedisIsAway(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        bench.cutOff(cache);
        cache.fetch(spec.key(9), () -> {
            cache.fetch(spec.key(1), () -> "inner");
            return "value" + cache.fetchAll(spec, IDS, new BatchSource());
        });
        assertThat(reads()).containsExactly("miss", "miss", "miss", "miss", "miss");
    }

    /** A listener may wait for another thread, which counts the same read. */
    @Test
    void theListenerIsCalledWithoutALock() {
        List<ReadCount> counts = new ArrayList<>();
        List<String> events = new ArrayList<>();
        CacheListener listener = new CacheListener() {
            @Override
            public void onHit(CacheKey<?> key, Hit hit) {
                Caller<Boolean> other = TwoNodes.inBackground(counts.get(0)::miss);
                await().until(other::isDone);
                events.add("hit " + hit);
            }

            @Override
            public void onMiss(CacheKey<?> key) {
                events.add("miss");
            }
        };
        counts.add(ReadCount.of(listener, Workbench.ap().key(1)));
        counts.get(0).hit(Hit.FRESH);
        assertThat(events).containsExactly("hit FRESH");
    }

    @ParameterizedTest
    @EnumSource
    void aReadWhoseFetchIsRefusedIsOneMiss(Way way) throws Exception {
        bench.store.answeringLater();
        bench.store.onNext(Operation.FETCH, bench.store::away);
        way.read(cache, Workbench.ap().key(1));
        assertThat(reads()).containsExactly("miss");
    }

    @ParameterizedTest
    @EnumSource
    void aReadThatMayGetAnExpiredValueIsOneMissIfItsFetchIsRefused(Way way) throws Exception {
        bench.store.answeringLater();
        bench.store.onNext(Operation.FETCH, bench.store::away);
        way.read(cache, kept().key(1));
        assertThat(reads()).containsExactly("miss");
    }
}
