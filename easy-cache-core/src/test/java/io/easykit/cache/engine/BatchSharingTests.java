package io.easykit.cache.engine;

import static io.easykit.cache.engine.BatchSource.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches beside other readers of their elements, in this JVM and on other nodes. */
@Timeout(60)
class BatchSharingTests {

    private static final List<Integer> TEN =
            IntStream.rangeClosed(1, 10).boxed().toList();

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final BatchSource source = new BatchSource();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readersOfFailingBatchesDoNotWaitOneAfterTheOther(boolean away) throws Exception {
        int readers = 30;
        CacheSpec<String> spec = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .loadWaitTimeout(Duration.ofSeconds(1))
                        .build());
        EasyCacheEngine small = bench.node(new DegradedOptions(
                Duration.ofSeconds(5), 4, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 100));
        if (away) {
            bench.store.away();
        }
        AtomicInteger loads = new AtomicInteger();
        List<Caller<Map<Integer, String>>> callers = new CopyOnWriteArrayList<>();
        BatchLoader<Integer, String, RuntimeException> failing = missing -> {
            loads.incrementAndGet();
            await().until(() -> callers.size() == readers
                    && callers.stream().allMatch(caller -> caller.isDone() || caller.isWaiting()));
            bench.clock.advance(Duration.ofMillis(300));
            throw new IllegalStateException("The database is down");
        };
        for (int i = 0; i < readers; i++) {
            callers.add(Workbench.call(() -> small.fetchAll(spec, List.of(1, 2), failing)));
        }

        for (Caller<Map<Integer, String>> caller : callers) {
            assertThat(caller.failure()).isInstanceOfAny(IllegalStateException.class, CacheLoadTimeoutException.class);
        }
        assertThat(loads).hasValueLessThanOrEqualTo(15);
    }

    @Test
    void waitsForTheLoadOfAnotherReaderAfterItsOwn() throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        Workbench.GatedLoader<String> single = new Workbench.GatedLoader<>(() -> "theirs");
        Caller<String> other = Workbench.call(() -> cache.fetch(spec.key(2), single));
        single.awaitEntered();

        Caller<Map<Integer, String>> batch = Workbench.call(() -> cache.fetchAll(spec, List.of(1, 2, 3), source));
        batch.awaitWaiting();
        assertThat(source.calls).containsExactly(List.of(1, 3));
        assertThat(bench.store.parts(spec.key(3))).contains("value");
        single.letGo();

        assertThat(batch.result()).containsExactly(entry(1, "1"), entry(2, "theirs"), entry(3, "3"));
        assertThat(other.result()).isEqualTo("theirs");
        assertThat(source.calls).hasSize(1);
    }

    @Test
    void loadsByOneFurtherCallWhatOtherReadersHaveFailedToLoad() throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        CountDownLatch entered = new CountDownLatch(2);
        CountDownLatch gate = new CountDownLatch(1);
        List<Caller<String>> failing = List.of(2, 4).stream()
                .map(id -> Workbench.call(() -> cache.fetch(spec.key(id), () -> {
                    entered.countDown();
                    assertThat(gate.await(10, TimeUnit.SECONDS)).isTrue();
                    throw new IllegalStateException("Only here");
                })))
                .toList();
        assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();

        Caller<Map<Integer, String>> batch = Workbench.call(() -> cache.fetchAll(spec, List.of(1, 2, 3, 4), source))
                .awaitWaiting();
        gate.countDown();

        assertThat(batch.result()).containsExactlyEntriesOf(all(List.of(1, 2, 3, 4), ""));
        assertThat(source.calls).containsExactly(List.of(1, 3), List.of(2, 4));
        assertThat(bench.store.parts(spec.key(4))).contains("value");
        for (Caller<String> caller : failing) {
            assertThat(caller.failure()).hasMessage("Only here");
        }
    }

    @Test
    void takesTheValuesThatAnotherNodeLoads() throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        EasyCacheEngine there = bench.node();
        Workbench.GatedLoader<String> foreign = new Workbench.GatedLoader<>(() -> "foreign");
        Caller<String> other = Workbench.call(() -> there.fetch(spec.key(2), foreign));
        foreign.awaitEntered();
        CountDownLatch polled = new CountDownLatch(1);
        bench.clock.onPause(() -> {
            foreign.letGo();
            try {
                other.result();
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
            polled.countDown();
        });

        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source))
                .containsExactly(entry(1, "1"), entry(2, "foreign"), entry(3, "3"));
        assertThat(polled.getCount()).isZero();
        assertThat(source.calls).containsExactly(List.of(1, 3));
    }

    @Test
    void otherReadersTakeTheValueOfAnotherNodeWhileTheBatchStillLoads() throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        EasyCacheEngine there = bench.node();
        Workbench.GatedLoader<String> foreign = new Workbench.GatedLoader<>(() -> "foreign");
        Caller<String> other = Workbench.call(() -> there.fetch(spec.key(2), foreign));
        foreign.awaitEntered();
        bench.clock.onPause(() -> {
            foreign.letGo();
            try {
                other.result();
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        Workbench.GatedLoader<String> gate = new Workbench.GatedLoader<>(() -> "");
        source.during = gate::load;
        Caller<Map<Integer, String>> batch = Workbench.call(() -> cache.fetchAll(spec, List.of(1, 2, 3), source));
        gate.awaitEntered();

        assertThat(cache.fetch(spec.key(2), () -> "own")).isEqualTo("foreign");
        assertThat(batch.isDone()).isFalse();
        gate.letGo();

        assertThat(batch.result()).containsExactly(entry(1, "1"), entry(2, "foreign"), entry(3, "3"));
        assertThat(source.calls).containsExactly(List.of(1, 3));
    }

    @Test
    void loadsWithoutStoringWhatAnotherNodeDoesNotLoadInTime() throws Exception {
        CacheSpec<String> spec = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .loadLease(Duration.ofMinutes(1))
                        .build());
        Workbench.GatedLoader<String> foreign = new Workbench.GatedLoader<>(() -> "foreign");
        Caller<String> other = Workbench.call(() -> bench.node().fetch(spec.key(2), foreign));
        foreign.awaitEntered();

        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source)).containsExactlyEntriesOf(all(List.of(1, 2, 3), ""));
        assertThat(source.calls).containsExactly(List.of(1, 3), List.of(2));
        assertThat(bench.store.parts(spec.key(2))).doesNotContain("value");
        foreign.letGo();
        other.result();
    }

    @Test
    void releasesAndCompletesAllLoadsWhateverHappens() throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        Held store = bench.store.hold(Operation.STORE);
        Caller<Map<Integer, String>> batch = Workbench.call(() -> cache.fetchAll(spec, TEN, source));
        store.awaitReached();
        Caller<String> single =
                Workbench.call(() -> cache.fetch(spec.key(3), () -> "own")).awaitWaiting();
        store.release();
        assertThat(batch.result()).hasSize(10);
        assertThat(single.result()).isEqualTo("3");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void twoBatchesInOppositeOrdersNeverWaitForEachOther(Consistency consistency) throws Exception {
        CacheSpec<String> plain = Workbench.spec(consistency);
        CacheSpec<String> spec = plain.withOptions(plain.options().toBuilder()
                .loadWaitTimeout(Duration.ofMinutes(1))
                .build());
        EasyCacheEngine real =
                bench.builder(new JacksonValueCodec()).ticker(Ticker.SYSTEM).buildStopped();
        List<Integer> backwards = new ArrayList<>(TEN);
        Collections.reverse(backwards);
        for (int i = 0; i < 1_000; i++) {
            real.invalidate(TEN.stream().map(spec::key).toList());
            Caller<Map<Integer, String>> one = Workbench.call(() -> real.fetchAll(spec, TEN, source));
            Caller<Map<Integer, String>> two = Workbench.call(() -> real.fetchAll(spec, backwards, source));
            assertThat(one.result()).containsExactlyEntriesOf(all(TEN, ""));
            assertThat(two.result()).containsExactlyEntriesOf(all(backwards, ""));
            // Both lists are copied for each element that is added.
            source.calls.clear();
            List<String> unused = bench.events.next();
        }
    }

    @Test
    void anInterruptEndsTheWaitAndStaysSet() throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        Workbench.GatedLoader<String> single = new Workbench.GatedLoader<>(() -> "theirs");
        Caller<String> other = Workbench.call(() -> cache.fetch(spec.key(2), single));
        single.awaitEntered();
        Caller<Map<Integer, String>> batch = Workbench.call(() -> {
            Map<Integer, String> found = cache.fetchAll(spec, List.of(1, 2, 3), source);
            return Thread.currentThread().isInterrupted() ? found : Map.of();
        });
        batch.awaitWaiting().interrupt();
        assertThat(batch.result()).containsExactlyEntriesOf(all(List.of(1, 2, 3), ""));
        assertThat(source.calls).containsExactly(List.of(1, 3), List.of(2));
        single.letGo();
        assertThat(other.result()).isEqualTo("theirs");
    }

    @Test
    void takesTheLoadOfAnElementOverFromALoaderThatHangs() throws Exception {
        EasyCacheEngine real =
                bench.builder(new JacksonValueCodec()).ticker(Ticker.SYSTEM).buildStopped();
        CacheSpec<String> spec = Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder()
                        .loadWaitTimeout(Duration.ofMillis(100))
                        .build());
        Workbench.GatedLoader<String> hanging = new Workbench.GatedLoader<>(() -> "late");
        Caller<String> other = Workbench.call(() -> real.fetch(spec.key(2), hanging));
        hanging.awaitEntered();
        bench.clock.advance(Duration.ofMinutes(1));

        await().untilAsserted(() -> {
            assertThat(real.fetchAll(spec, List.of(1, 2, 3), source)).hasSize(3);
            assertThat(bench.store.parts(spec.key(2))).contains("value");
        });
        assertThat(real.fetch(spec.key(2), () -> "not called")).isEqualTo("2");
        hanging.letGo();
        assertThat(other.result()).isEqualTo("late");
    }
}
