package io.easykit.cache.engine;

import static io.easykit.cache.engine.BatchSource.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.InMemoryEntryStore.Fault;
import io.easykit.cache.store.InMemoryEntryStore.Held;
import io.easykit.cache.store.InMemoryEntryStore.Operation;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
import org.springframework.core.ResolvableType;

@Timeout(60)
class BatchReadTests {

    private static final List<Integer> TEN =
            IntStream.rangeClosed(1, 10).boxed().toList();

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final BatchSource source = new BatchSource();

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void loadsExactlyTheMissingElementsByOneCall(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        cache.fetchAll(spec, List.of(2, 4, 6, 8, 10), source);
        source.calls.clear();
        bench.events.next();

        Map<Integer, String> found = cache.fetchAll(spec, TEN, source);

        assertThat(found).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9));
        assertThat(bench.events.next())
                .filteredOn(event -> event.startsWith("hit") || event.equals("miss"))
                .hasSize(10)
                .containsOnly("hit FRESH", "miss")
                .filteredOn("miss"::equals)
                .hasSize(5);
        assertThat(cache.fetchAll(spec, TEN, source)).isEqualTo(found);
        assertThat(source.calls).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void returnsAllAndStoresAllButTheElementThatWasInvalidatedMeanwhile(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        cache.fetchAll(spec, List.of(2, 4, 6, 8, 10), source);
        source.calls.clear();
        bench.events.next();
        EasyCacheEngine other = bench.node();
        source.during = () -> {
            source.during = () -> {};
            source.version = " new";
            other.invalidate(spec.key(5));
        };

        Map<Integer, String> found = cache.fetchAll(spec, TEN, source);

        Map<Integer, String> expected = all(TEN, "");
        if (consistency == Consistency.CP) {
            expected.put(5, "5 new");
            assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9), List.of(5));
        } else {
            assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9));
        }
        assertThat(found).containsExactlyEntriesOf(expected);
        List<String> events = bench.events.next();
        assertThat(events).filteredOn("load REJECTED"::equals).hasSize(1);
        assertThat(events).filteredOn("load STORED"::equals).hasSize(consistency == Consistency.CP ? 5 : 4);
        assertThat(bench.node().fetchAll(spec, List.of(5), source)).containsExactly(entry(5, "5 new"));
    }

    @Test
    void keepsTheCallersOrderAndChargesADuplicateOnce() {
        assertThat(cache.fetchAll(Workbench.ap(), List.of(3, 1, 3, 2, 1), source))
                .containsExactlyEntriesOf(all(List.of(3, 1, 2), ""));
        assertThat(source.calls).containsExactly(List.of(3, 1, 2));
        assertThat(bench.store.count(Operation.FETCH)).isEqualTo(3);
    }

    @Test
    void cachesThatAnElementHasNoValue() {
        BatchLoader<Integer, String, RuntimeException> some = missing -> {
            source.load(missing);
            Map<Integer, String> found = new HashMap<>();
            found.put(1, "one");
            found.put(2, null);
            return found;
        };
        for (int i = 0; i < 2; i++) {
            assertThat(cache.fetchAll(Workbench.ap(), List.of(1, 2, 3), some)).containsExactly(entry(1, "one"));
        }
        assertThat(source.calls).hasSize(1);
        assertThat(cache.fetch(Workbench.ap().key(3), () -> "not called")).isNull();
        bench.clock.advance(Workbench.ap().options().nullTtl().plusSeconds(1));
        cache.fetchAll(Workbench.ap(), List.of(1, 2, 3), source);
        assertThat(source.calls).hasSize(2).last().isEqualTo(List.of(2, 3));
    }

    @Test
    void anOptionalElementThatIsLeftOutIsEmptyAsForASingleRead() {
        CacheSpec<Optional<String>> spec = CacheSpec.of(
                "optional",
                ResolvableType.forClassWithGenerics(Optional.class, String.class)
                        .getType());
        BatchLoader<Integer, Optional<String>, RuntimeException> some = missing -> Map.of(1, Optional.of("one"));
        for (int i = 0; i < 2; i++) {
            assertThat(cache.fetchAll(spec, List.of(1, 2), some))
                    .containsExactly(entry(1, Optional.of("one")), entry(2, Optional.empty()));
        }
        assertThat(cache.fetch(spec.key(2), () -> Optional.of("not called"))).isEmpty();
    }

    @Test
    void namesThePositionOfANullElement() {
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> cache.fetchAll(Workbench.ap(), Arrays.asList(1, null, 3), source))
                .withMessage("Element 1 of the 3 elements of 'name' (counted from 0) is null. Leave it out.");
        assertThat(source.calls).isEmpty();
    }

    @Test
    void refusesAnElementThatWasNotAskedForAndStoresNothing() {
        CacheSpec<String> spec = Workbench.ap();
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> cache.<Object, String, RuntimeException>fetchAll(
                        spec, List.of(1, 2), missing -> Map.of(1, "one", 2L, "two")))
                .withMessageContaining("returned a value for 2 (java.lang.Long), which it was not asked for")
                .withMessageContaining("1 (java.lang.Integer) and 1 more");
        assertThat(bench.store.count(Operation.STORE)).isZero();
        assertThat(cache.fetchAll(spec, List.of(1, 2), source)).hasSize(2);
    }

    @Test
    void passesTheLoadersExceptionOnAndReleasesTheLeases() {
        IllegalStateException down = new IllegalStateException("The database is down");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> cache.fetchAll(Workbench.ap(), TEN, missing -> {
                    throw down;
                }))
                .isSameAs(down);
        assertThat(bench.store.count(Operation.STORE)).isZero();
        assertThat(bench.store.count(Operation.RELEASE_LOAD)).isEqualTo(10);
        assertThat(bench.node().fetchAll(Workbench.ap(), TEN, source)).hasSize(10);
        assertThat(bench.events.next()).doesNotContain("hit FRESH").contains("load FAILED");
    }

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
    void anUndecodableElementIsLoadedWithTheOtherMissingOnes() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, TEN.subList(0, 9), source);
        source.calls.clear();
        bench.store.spoil(spec.key(4), "garbage".getBytes(StandardCharsets.UTF_8));
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(List.of(4, 10));
        assertThat(cache.fetchAll(spec, TEN, source)).hasSize(10);
        assertThat(source.calls).hasSize(1);
    }

    @Test
    void loadsTenThousandElementsWithoutAQuadraticStep() {
        List<Integer> ids = IntStream.range(0, 10_000).boxed().toList();
        assertThat(cache.fetchAll(Workbench.ap(), ids, source)).containsExactlyEntriesOf(all(ids, ""));
        assertThat(cache.fetchAll(Workbench.ap(), ids, source)).hasSize(10_000);
        assertThat(source.calls).hasSize(1);
        assertThat(bench.store.count(Operation.STORE)).isEqualTo(10_000);
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
    void loadsAnElementUnderAnUpdateAndDoesNotStoreIt() {
        CacheSpec<String> spec = Workbench.cp();
        EasyCacheEngine updater = bench.node();
        updater.update(List.of(spec.key(2)), () -> {
            assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source))
                    .containsExactlyEntriesOf(all(List.of(1, 2, 3), ""));
            return null;
        });
        assertThat(source.calls).containsExactly(List.of(1, 3), List.of(2));
        assertThat(bench.store.parts(spec.key(2))).doesNotContain("value");
        assertThat(bench.store.parts(spec.key(3))).contains("value");
    }

    @Test
    void readsItsOwnKeysInsideItsLoader() {
        CacheSpec<String> spec = Workbench.ap();
        Map<Integer, String> found = cache.fetchAll(
                spec,
                List.of(1, 2),
                missing -> Map.of(1, "outer", 2, String.valueOf(cache.fetchAll(spec, missing, source))));
        assertThat(found).containsExactly(entry(1, "outer"), entry(2, "{1=1, 2=2}"));
        assertThat(source.calls).containsExactly(List.of(1, 2));
    }

    @Test
    void insideATransactionNothingIsStored() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1), source);
        bench.transactions.begin();
        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source)).hasSize(3);
        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source)).hasSize(3);
        bench.transactions.rollback();
        assertThat(source.calls).containsExactly(List.of(1), List.of(2, 3), List.of(2, 3));
        assertThat(bench.store.parts(spec.key(2))).isEmpty();
    }

    @Test
    void anElementThatTheCallerUpdatesIsLoadedInsideItsUpdateAndNotStored() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1, 2), source);
        source.calls.clear();
        source.version = " uncommitted";
        cache.update(List.of(spec.key(2)), () -> {
            assertThat(cache.fetchAll(spec, List.of(1, 2), source))
                    .containsExactly(entry(1, "1"), entry(2, "2 uncommitted"));
            return null;
        });
        assertThat(source.calls).containsExactly(List.of(2));
    }

    @Test
    void anElementWhoseInvalidationIsUndeliveredIsLoadedAndNotTakenFromTheStore() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1, 2), source);
        source.version = " new";
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        cache.invalidate(spec.key(2));
        assertThat(cache.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);
        assertThat(cache.fetchAll(spec, List.of(1, 2), source)).containsExactly(entry(1, "1"), entry(2, "2 new"));
        assertThat(source.calls).containsExactly(List.of(1, 2), List.of(2));
    }

    @Test
    void anElementWhoseInvalidationIsDeliveredDuringTheReadIsNotTakenFromTheStore() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1, 2), source);
        source.version = " new";
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        cache.invalidate(spec.key(2));
        Runnable deliver =
                () -> cache.cluster(CacheSpec.DEFAULT_CLUSTER).workers().forEach(RecoveryWorker::tick);
        bench.store.onNext(Operation.READ, () -> bench.store.onNext(Operation.READ, deliver));

        assertThat(cache.fetchAll(spec, List.of(2, 1), source)).containsExactly(entry(2, "2 new"), entry(1, "1"));
        assertThat(cache.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
        assertThat(source.calls).containsExactly(List.of(1, 2), List.of(2));
    }

    @Test
    void withoutRedisARefusedResultIsNotKeptInTheLocalLevel() {
        CacheSpec<String> spec = Workbench.ap();
        bench.store.away();
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> cache.<Object, String, RuntimeException>fetchAll(
                        spec, List.of(1, 2), missing -> Map.of(1, "one", 2L, "two")));
        assertThat(cache.fetch(spec.key(1), () -> "loaded")).isEqualTo("loaded");
        assertThat(cache.fetch(spec.key(2), () -> "loaded")).isEqualTo("loaded");
    }

    @Test
    void withoutRedisAllElementsAreLoadedTogetherAndKeptInTheLocalLevel() {
        CacheSpec<String> spec = Workbench.ap();
        bench.store.away();
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        bench.events.next();
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(TEN);
        assertThat(bench.events.next()).hasSize(10).containsOnly("hit LOCAL");
    }

    @Test
    void ifRedisGoesAwayInTheMiddleTheLoadedValuesAreReturned() {
        CacheSpec<String> spec = Workbench.ap();
        bench.store.onNext(Operation.STORE, bench.store::away);
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(TEN);
        bench.store.back();
        assertThat(bench.node().fetchAll(spec, List.of(1), source)).hasSize(1);
    }

    @Test
    void ifRedisGoesAwayBeforeTheFetchEachElementIsLoadedOnce() {
        CacheSpec<String> spec = Workbench.ap();
        bench.store.onNext(Operation.FETCH, bench.store::away);
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(TEN);
        assertThat(source.calls.size()).isLessThanOrEqualTo(2);
    }

    @Test
    void withoutOnePartitionItsElementsAreLoadedTogether() {
        bench.store.inParts(2);
        CacheSpec<String> spec = Workbench.ap();
        EasyCacheEngine here = bench.node();
        here.fetchAll(spec, TEN, source);
        source.calls.clear();
        bench.store.away(1);

        assertThat(here.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));

        assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9));
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
        CacheSpec<String> spec = Workbench.spec(consistency);
        EasyCacheEngine real =
                bench.builder(new JacksonValueCodec()).ticker(Ticker.SYSTEM).buildStopped();
        List<Integer> backwards = new ArrayList<>(TEN);
        Collections.reverse(backwards);
        Duration longest = Duration.ZERO;
        for (int i = 0; i < 1_000; i++) {
            real.invalidate(TEN.stream().map(spec::key).toList());
            long startedAt = System.nanoTime();
            Caller<Map<Integer, String>> one = Workbench.call(() -> real.fetchAll(spec, TEN, source));
            Caller<Map<Integer, String>> two = Workbench.call(() -> real.fetchAll(spec, backwards, source));
            assertThat(one.result()).containsExactlyEntriesOf(all(TEN, ""));
            assertThat(two.result()).containsExactlyEntriesOf(all(backwards, ""));
            Duration took = Duration.ofNanos(System.nanoTime() - startedAt);
            longest = took.compareTo(longest) > 0 ? took : longest;
        }
        assertThat(longest).isLessThan(spec.options().loadWaitTimeout());
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

    @Test
    void failsAStrongBatchWithoutRedisIfThatWasChosen() {
        EasyCacheEngine strict = bench.node(
                new DegradedOptions(Duration.ofSeconds(5), 2, CpReads.FAIL, CpUpdates.REFUSE, ApUpdates.PROCEED, 100));
        bench.store.away();
        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> strict.fetchAll(Workbench.cp(), TEN, source));
        assertThat(source.calls).isEmpty();
        assertThat(cache.fetchAll(Workbench.cp(), TEN, source)).hasSize(10);
        assertThat(source.calls).containsExactly(TEN);
    }

    @Test
    void aSwitchedOffCacheLoadsEveryElement() {
        EasyCacheEngine off = bench.builder(new JacksonValueCodec()).disabled().buildStopped();
        assertThat(off.fetchAll(Workbench.ap(), List.of(2, 1, 2), source))
                .containsExactlyEntriesOf(all(List.of(2, 1), ""));
        assertThat(off.fetchAll(Workbench.ap(), List.<Integer>of(), source)).isEmpty();
        assertThat(source.calls).containsExactly(List.of(2, 1));
    }

    @Test
    void noElementsCostNothing() {
        assertThat(cache.fetchAll(Workbench.ap(), List.<Integer>of(), source)).isEmpty();
        assertThat(source.calls).isEmpty();
        assertThat(bench.store.count()).isZero();
    }

    @Test
    void aVetoedValueIsReturnedAndNotStored() {
        CacheSpec<String> spec = Workbench.ap();
        assertThat(cache.fetchAll(spec, List.of(1, 2), source, value -> !"2".equals(value)))
                .hasSize(2);
        assertThat(bench.store.parts(spec.key(1))).contains("value");
        assertThat(bench.store.parts(spec.key(2))).doesNotContain("value");
    }
}
