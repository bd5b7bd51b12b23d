package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.RunningLoad;
import io.easykit.cache.ValueCodec;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every wait ends: with a value, with a load of one's own, or with an exception that gives the reason. */
@Timeout(60)
class WaitingTests {

    private static final int PERMITS = 8;
    private static final int PER_KEY = PERMITS / 4;
    private static final Duration WAITING = Duration.ofMillis(100);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = builder().buildStopped();
    private final CountDownLatch never = new CountDownLatch(1);
    private final AtomicInteger hanging = new AtomicInteger();

    @AfterEach
    void end() {
        never.countDown();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isOverForEachReaderOfLoadsThatNeverReturn(boolean away) throws Exception {
        if (away) {
            bench.store.away();
        }
        List<Caller<String>> readers = Workbench.call(30, () -> cache.fetch(key(1), this::hang));

        int loads = 1 + 1 + PER_KEY;
        await().until(() -> readers.stream().filter(Caller::isDone).count() >= 30 - loads);
        assertThat(hanging).hasValueBetween(1, loads);
        for (Caller<String> reader : readers) {
            if (reader.isDone()) {
                assertThat(reader.failure())
                        .isInstanceOf(CacheLoadTimeoutException.class)
                        .hasMessageContaining("name::1")
                        .hasMessageContaining("100ms")
                        .hasMessageContaining("'load-wait-timeout'");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leavesPermitsToTheReadersOfOtherKeys(boolean away) throws Exception {
        if (away) {
            bench.store.away();
        }
        List<Caller<String>> readers = Workbench.call(30, () -> cache.fetch(key(1), this::hang));
        await().until(() -> readers.stream().filter(Caller::isDone).count() >= 30 - 2 - PER_KEY);

        assertThat(Workbench.call(() -> cache.fetch(key(2), () -> "value")).result())
                .isEqualTo("value");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isNoneForLongBehindALoadThatNeverReturns(Consistency consistency) {
        CacheKey<String> key = key(consistency, 1);
        Workbench.call(() -> cache.fetch(key, this::hang));
        await().until(() -> hanging.get() == 1);
        bench.clock.advance(key.spec().options().loadLease().plusMillis(1));

        await().until(() -> {
            assertThat(cache.fetch(key, () -> "value")).isEqualTo("value");
            return bench.store.parts(key).contains("value");
        });
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("value");
    }

    @Test
    void isNoneForAPermitInsideALoadOfAnotherCluster() throws Exception {
        FaultyCacheStore second = new FaultyCacheStore(bench.clock::millis);
        EasyCacheEngine both = builder()
                .store("second", second)
                .degraded(new DegradedOptions(
                        Duration.ofMinutes(1), 1, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 100))
                .buildStopped();
        bench.store.away();
        second.away();
        CacheSpec<String> patient = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build());
        CacheSpec<String> there = patient.withClusterId("second");
        CyclicBarrier loading = new CyclicBarrier(2);

        Caller<String> one = Workbench.call(() -> both.fetch(patient.key(1), () -> {
            loading.await(10, TimeUnit.SECONDS);
            return both.fetch(there.key(2), () -> "one");
        }));
        Caller<String> two = Workbench.call(() -> both.fetch(there.key(1), () -> {
            loading.await(10, TimeUnit.SECONDS);
            return both.fetch(patient.key(2), () -> "two");
        }));

        assertThat(one.result()).isEqualTo("one");
        assertThat(two.result()).isEqualTo("two");
    }

    /** The only permit belongs to the outer load, which waits for the other thread. */
    @ParameterizedTest
    @EnumSource(OtherThread.class)
    void isNoneForAPermitOnAnotherThreadOfALoad(OtherThread thread) throws Exception {
        EasyCacheEngine one = builder()
                .degraded(new DegradedOptions(
                        Duration.ofMinutes(1), 1, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 100))
                .buildStopped();
        CacheSpec<String> patient = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build());
        bench.store.away();

        assertThat(one.fetch(
                        patient.key(1), () -> thread.call(() -> one.fetch(patient.key(2), () -> "inner") + " value")))
                .isEqualTo("inner value");
        assertThat(one.fetch(
                        patient.key(3),
                        () -> thread.call(() -> one.fetchAll(patient, List.of(2), ids -> Map.of(2, "inner"))
                                .get(2))))
                .isEqualTo("inner");
    }

    /** A thread that a loader waits for. */
    enum OtherThread {
        NEW {
            @Override
            String call(Callable<String> work) throws Exception {
                FutureTask<String> task = new FutureTask<>(work);
                new Thread(task).start();
                return task.get(10, TimeUnit.SECONDS);
            }
        },
        POOLED {
            @Override
            String call(Callable<String> work) throws Exception {
                ExecutorService pool = Executors.newSingleThreadExecutor();
                try {
                    return pool.submit(RunningLoad.carry(work)).get(10, TimeUnit.SECONDS);
                } finally {
                    pool.shutdown();
                }
            }
        },
        FORK_JOIN {
            @Override
            String call(Callable<String> work) throws Exception {
                return ForkJoinPool.commonPool().submit(work).get(10, TimeUnit.SECONDS);
            }
        };

        abstract String call(Callable<String> work) throws Exception;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sharesNoFailureOfAnInterruptedLeader(boolean flagIsKept) throws Exception {
        CacheKey<String> key = patient(1);
        GatedLoader<String> gate = new GatedLoader<>(() -> "never");
        Caller<String> leader = Workbench.call(() -> cache.fetch(key, () -> {
            try {
                gate.load();
            } catch (AssertionError interrupted) {
                if (flagIsKept) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("the driver says nothing of an interrupt");
                }
                throw new IllegalStateException("the driver was interrupted", interrupted);
            }
            return "never";
        }));
        gate.awaitEntered();
        List<Caller<String>> others = Workbench.call(10, () -> cache.fetch(key, () -> "value"));
        others.forEach(Caller::awaitWaiting);

        leader.interrupt();

        assertThat(leader.failure()).isInstanceOf(IllegalStateException.class);
        for (Caller<String> other : others) {
            assertThat(other.result()).isEqualTo("value");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void endsForThoseWhoWaitForAValueThatCannotBePacked(boolean away) throws Exception {
        EasyCacheEngine failing = builder(new FailingCodec()).buildStopped();
        if (away) {
            bench.store.away();
        }
        CacheSpec<List<String>> spec = CacheSpec.of("names", (Type) List.class);
        CacheKey<List<String>> key = spec.withOptions(spec.options().toBuilder()
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build())
                .key(1);
        GatedLoader<List<String>> loader = new GatedLoader<>(() -> new ArrayList<>(List.of("Ada")));
        Caller<List<String>> leader = Workbench.call(() -> failing.fetch(key, loader));
        loader.awaitEntered();
        List<Caller<List<String>>> others = Workbench.call(5, () -> failing.fetch(key, loader));
        others.forEach(Caller::awaitWaiting);

        loader.letGo();

        assertThat(leader.result()).containsExactly("Ada");
        for (Caller<List<String>> other : others) {
            assertThat(other.result()).containsExactly("Ada");
        }
    }

    @Test
    void isNotMadeLongerByAPoolThatIsFull() {
        for (Throwable fault :
                new Throwable[] {new RejectedExecutionException("full"), new OutOfMemoryError("no thread"), new Error()
                }) {
            EasyCacheEngine full = builder()
                    .background(task -> WaitingTests.<RuntimeException>sneak(fault))
                    .buildStopped();
            CacheKey<String> key = key(fault.getClass().getSimpleName().length());
            full.fetch(key, () -> "old");
            bench.node().invalidate(key);
            assertThat(full.fetch(key, () -> "never")).isEqualTo("old");
            assertThat(bench.store.count(Operation.RELEASE_LOAD)).isPositive();
            assertThat(bench.node().fetch(key, () -> "never")).isEqualTo("old");
        }
    }

    /** A load that is not stored. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isForTheLoadThatReplacesOneThatHangs(boolean batch) throws Exception {
        bench.store.away();
        CacheKey<String> impatient = key(Consistency.CP, 1);
        Workbench.call(() -> cache.fetch(impatient, this::hang));
        await().until(() -> hanging.get() == 1);
        assertThat(cache.fetch(impatient, () -> "beside")).isEqualTo("beside");

        GatedLoader<String> loader = new GatedLoader<>(() -> "value");
        Caller<?> next = Workbench.call(() -> batch
                ? cache.fetchAll(impatient.spec(), List.of(1), missing -> Map.of(1, loader.load()))
                : cache.fetch(impatient, loader));
        loader.awaitEntered();
        List<Caller<String>> others = Workbench.call(20, () -> cache.fetch(patient(1), () -> "later"));
        others.forEach(Caller::awaitWaiting);
        loader.letGo();

        assertThat(next.result()).isEqualTo(batch ? Map.of(1, "value") : "value");
        for (Caller<String> other : others) {
            assertThat(other.result()).isEqualTo("later");
        }
    }

    private EasyCacheEngine.Builder builder() {
        return builder(new JacksonValueCodec());
    }

    private EasyCacheEngine.Builder builder(ValueCodec codec) {
        return bench.builder(codec)
                .ticker(Ticker.SYSTEM)
                .degraded(new DegradedOptions(
                        Duration.ofMinutes(1), PERMITS, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 100));
    }

    private static CacheKey<String> key(Object part) {
        return key(Consistency.AP, part);
    }

    private static CacheKey<String> key(Consistency consistency, Object part) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        return spec.withOptions(
                        spec.options().toBuilder().loadWaitTimeout(WAITING).build())
                .key(part);
    }

    private static CacheKey<String> patient(Object part) {
        CacheSpec<String> spec = Workbench.cp();
        return spec.withOptions(spec.options().toBuilder()
                        .loadWaitTimeout(Duration.ofMinutes(1))
                        .build())
                .key(part);
    }

    private String hang() {
        hanging.incrementAndGet();
        try {
            assertThat(never.await(50, TimeUnit.SECONDS)).isTrue();
            return "late";
        } catch (InterruptedException stop) {
            throw new AssertionError(stop);
        }
    }

    @SuppressWarnings("unchecked")
    private static <X extends Throwable> void sneak(Throwable failure) throws X {
        throw (X) failure;
    }

    /** Fails in a way that no codec should. */
    private static final class FailingCodec implements ValueCodec {

        @Override
        public byte[] encode(Object value, Type type) {
            throw new OutOfMemoryError("a huge value");
        }

        @Override
        public Object decode(byte[] bytes, Type type) {
            throw new OutOfMemoryError("a huge value");
        }
    }
}
