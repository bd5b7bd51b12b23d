package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheLoadTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.Loader;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.engine.LoadBulkhead.Permit;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoadBulkheadTests {

    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final LoadBulkhead limit = new LoadBulkhead(1, Ticker.SYSTEM);

    @Test
    void letsTheNextInWhenOneHasLoaded() throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = call(LONG, loader);
        loader.awaitEntered();
        Caller<String> second = call(LONG, () -> "second").awaitWaiting();
        assertThat(second.isDone()).isFalse();
        loader.letGo();
        assertThat(first.result()).isEqualTo("first");
        assertThat(second.result()).isEqualTo("second");
    }

    @Test
    void givesThePermitBackAfterAFailure() throws Exception {
        IllegalStateException failure = new IllegalStateException("no database");
        assertThatThrownBy(() -> load(limit, read(LONG, () -> {
                    throw failure;
                })))
                .hasCause(failure);
        assertThat(LoadBulkhead.isInside()).isFalse();
        assertThat(call(LONG, () -> "next").result()).isEqualTo("next");
    }

    @Test
    void knowsWhoHasAPermit() {
        assertThat(LoadBulkhead.isInside()).isFalse();
        assertThat(load(limit, read(LONG, () -> String.valueOf(LoadBulkhead.isInside()))))
                .isEqualTo("true");
        assertThat(LoadBulkhead.isInside()).isFalse();
    }

    @Test
    void asksForNoSecondPermitInsideALoadOfAnyCluster() throws Exception {
        LoadBulkhead other = new LoadBulkhead(1, Ticker.SYSTEM);
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = Workbench.call(() -> load(other, read(LONG, loader)));
        loader.awaitEntered();
        assertThat(load(limit, read(LONG, () -> load(other, read(SHORT, () -> "nested")))))
                .isEqualTo("nested");
        loader.letGo();
        assertThat(first.result()).isEqualTo("first");
    }

    @Test
    void endsTheWaitForAPermitWithTheWaitingTime() throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = call(LONG, loader);
        loader.awaitEntered();
        assertThat(call(SHORT, () -> "never").failure())
                .hasRootCauseInstanceOf(CacheLoadTimeoutException.class)
                .rootCause()
                .hasMessageContaining("50ms")
                .hasMessageContaining("degraded.concurrent-loads");
        loader.letGo();
        first.result();
    }

    @Test
    void endsTheWaitForAPermitWithAnInterrupt() throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = call(LONG, loader);
        loader.awaitEntered();
        Caller<String> second = call(LONG, () -> "never").awaitWaiting();
        second.interrupt();
        assertThat(second.failure()).hasRootCauseInstanceOf(CacheLoadTimeoutException.class);
        loader.letGo();
        first.result();
    }

    /** The method has not run: nothing was loaded, and nothing has failed. */
    @Test
    void loadsWithoutAPermitAreNotCountedWhileRedisIsAway() throws Exception {
        Workbench bench = new Workbench();
        EasyCacheEngine cache = bench.node(withLoads(1));
        bench.cutOff(cache);
        refusesLoadsAndCountsNone(bench, cache, "load NOT_STORED");
    }

    @Test
    void loadsWithoutAPermitAreNotCountedJustAfterAnOutage() throws Exception {
        Workbench bench = new Workbench();
        refusesLoadsAndCountsNone(bench, recovered(bench, 1), "load STORED");
        for (int id = 1; id <= 3; id++) {
            assertThat(bench.store.fetch(hasty().key(id), 0, false))
                    .as("lease is free")
                    .isInstanceOf(Fetched.Leased.class);
        }
    }

    private static CacheSpec<String> hasty() {
        CacheSpec<String> spec = Workbench.ap();
        return spec.withOptions(
                spec.options().toBuilder().loadWaitTimeout(SHORT).build());
    }

    private static void refusesLoadsAndCountsNone(Workbench bench, EasyCacheEngine cache, String firstLoad)
            throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = Workbench.call(() -> cache.fetch(Workbench.ap().key(9), loader));
        loader.awaitEntered();
        bench.events.next();
        BatchSource never = new BatchSource();

        try (LogCapture log = LogCapture.of(LoadBulkhead.class)) {
            assertThatThrownBy(() -> cache.fetch(hasty().key(1), () -> "never"))
                    .isInstanceOf(CacheLoadTimeoutException.class);
            assertThatThrownBy(() -> cache.fetchAll(hasty(), List.of(2, 3), never))
                    .isInstanceOf(CacheLoadTimeoutException.class);
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("No permit to load name::1: all 1 permits");
        }

        assertThat(bench.events.next()).containsOnly("miss");
        assertThat(never.calls).isEmpty();
        loader.letGo();
        assertThat(first.result()).isEqualTo("first");
        assertThat(bench.events.next()).containsExactly(firstLoad);
    }

    /** The wait for the permit is no part of the load. */
    @Test
    void timesALoadFromItsPermitOn() throws Exception {
        Workbench bench = new Workbench();
        List<Duration> took = new CopyOnWriteArrayList<>();
        EasyCacheEngine cache = bench.builder(new JacksonValueCodec())
                .degraded(withLoads(1))
                .listener(new CacheListener() {
                    @Override
                    public void onLoad(CacheKey<?> key, Duration time, Load load) {
                        took.add(time);
                    }
                })
                .buildStopped();
        bench.cutOff(cache);
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        CacheSpec<String> spec = Workbench.ap();
        CacheSpec<String> patient = spec.withOptions(
                spec.options().toBuilder().loadWaitTimeout(LONG).build());
        Caller<String> first = Workbench.call(() -> cache.fetch(patient.key(1), loader));
        loader.awaitEntered();
        Caller<String> second = Workbench.call(() -> cache.fetch(patient.key(2), () -> "second"))
                .awaitWaiting();
        bench.clock.advance(Duration.ofSeconds(3));

        loader.letGo();

        assertThat(first.result()).isEqualTo("first");
        assertThat(second.result()).isEqualTo("second");
        assertThat(took).containsExactly(Duration.ofSeconds(3), Duration.ZERO);
    }

    @Test
    void givesOneKeyAQuarterOfThePermitsForOverdueReaders() throws Exception {
        LoadBulkhead eight = new LoadBulkhead(8, Ticker.SYSTEM);
        assertThat(overdue(eight, 1, 5)).hasSize(2);
        assertThat(overdue(eight, 2, 5)).hasSize(2);
        List<Permit> third = overdue(eight, 3, 5);
        assertThat(overdue(eight, 4, 5)).hasSize(2);
        assertThat(overdue(eight, 5, 5)).isEmpty();
        third.forEach(Permit::close);
        assertThat(overdue(eight, 5, 5)).hasSize(2);
    }

    /** Its readers still load without it. */
    @Test
    void theNumberOfPermitsStaysWhileAnotherMasterIsAway() throws Exception {
        ManualClock clock = new ManualClock();
        LoadBulkhead fading = new LoadBulkhead(4, clock);
        fading.onUnavailable();
        fading.onUnavailable();
        fading.onAvailable(false);
        clock.advance(Duration.ofSeconds(3));

        assertThat(fading.isFading()).isTrue();
        assertThat(enterAll(fading, 4)).hasSize(4);
    }

    /** The first one may have come back without its entries. */
    @Test
    void allLoadsNeedAPermitAfterARecoveryAlthoughAnotherMasterIsLost() {
        ManualClock clock = new ManualClock();
        LoadBulkhead fading = new LoadBulkhead(4, clock);
        fading.onUnavailable();
        fading.onAvailable(true);
        clock.advance(Duration.ofSeconds(2));
        fading.onUnavailable();

        assertThat(fading.isFading()).isTrue();
        clock.advance(Duration.ofSeconds(4));
        assertThat(fading.isFading()).isFalse();
    }

    @Test
    void fadesByDoublingEachSecond() throws Exception {
        ManualClock clock = new ManualClock();
        LoadBulkhead fading = new LoadBulkhead(4, clock);
        assertThat(fading.isFading()).isFalse();
        fading.onUnavailable();
        fading.onAvailable(true);
        for (int size = 4; size <= 128; size *= 2) {
            assertThat(fading.isFading()).isTrue();
            List<Permit> taken = enterAll(fading, size);
            assertThat(taken).hasSize(size);
            taken.forEach(Permit::close);
            clock.advance(Duration.ofSeconds(1));
        }
        assertThat(fading.isFading()).isFalse();
        fading.onUnavailable();
        assertThat(enterAll(fading, 4)).hasSize(4);
    }

    /** Its entries are gone, and all readers come at once. */
    @Test
    void fadesForTheReadersOfACacheThatIsBack() throws Exception {
        Workbench bench = new Workbench();
        EasyCacheEngine cache = recovered(bench, 4);
        for (int size = 4; size <= 128; size *= 2) {
            assertThat(loadsAtATime(cache, size + 3)).isEqualTo(size);
            bench.clock.advance(Duration.ofSeconds(1));
        }
        assertThat(loadsAtATime(cache, 140)).isEqualTo(140);
    }

    @Test
    void staysForTheReadersOfAClusterWhileAnotherMasterIsAway() throws Exception {
        Workbench bench = new Workbench();
        bench.store.inParts(2);
        EasyCacheEngine cache = bench.node(withLoads(4));
        CacheCluster cluster = cache.cluster(CacheSpec.DEFAULT_CLUSTER);
        cluster.workers().get(0).tick();
        assertThat(cluster.availability().breakers()).hasSize(2);
        cluster.availability().breakers().forEach(LoadBulkheadTests::lose);

        recover(cluster.workers().get(0));
        bench.clock.advance(Duration.ofSeconds(3));

        assertThat(cluster.availability().masters().values())
                .containsExactlyInAnyOrder(State.AVAILABLE, State.UNAVAILABLE);
        assertThat(loadsAtATime(cache, 10)).isEqualTo(4);
    }

    @Test
    void givesAnExpiredValueInsteadOfWaitingForAPermitInVain() throws Exception {
        Workbench bench = new Workbench();
        CacheSpec<String> spec = Workbench.ap();
        CacheSpec<String> kept = spec.withOptions(spec.options().toBuilder()
                .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofHours(1)))
                .loadWaitTimeout(Duration.ofMillis(50))
                .build());
        bench.node().fetch(kept.key(1), () -> "old");
        bench.clock.advance(kept.options().ttl());
        EasyCacheEngine fading = recovered(bench, 1);
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = Workbench.call(() -> fading.fetch(spec.key(9), loader));
        loader.awaitEntered();
        assertThat(fading.fetch(kept.key(1), () -> "second")).isEqualTo("old");
        loader.letGo();
        assertThat(first.result()).isEqualTo("first");
        assertThat(fading.fetch(kept.key(1), () -> "second")).as("no pause").isEqualTo("second");
    }

    /** The holder of the permit may be waiting for a resource of the caller, for example a database connection. */
    @Test
    void aBatchInUnfinishedWorkWaitsForNoPermitWhileItFades() throws Exception {
        Workbench bench = new Workbench();
        EasyCacheEngine cache = recovered(bench, 1);
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = Workbench.call(() -> cache.fetch(Workbench.ap().key(9), loader));
        loader.awaitEntered();
        bench.transactions.begin();
        assertThat(cache.fetchAll(Workbench.ap(), List.of(1, 2), new BatchSource()))
                .hasSize(2);
        bench.transactions.rollback();
        loader.letGo();
        assertThat(first.result()).isEqualTo("first");
    }

    @Test
    void aBatchWaitsForOnePermitWhileItFadesIfItIsStored() throws Exception {
        EasyCacheEngine cache = recovered(new Workbench(), 1);
        CacheSpec<String> spec = Workbench.ap();
        CacheSpec<String> patient = spec.withOptions(
                spec.options().toBuilder().loadWaitTimeout(LONG).build());
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = Workbench.call(() -> cache.fetch(patient.key(9), loader));
        loader.awaitEntered();
        BatchSource source = new BatchSource();
        Caller<Map<Integer, String>> batch = Workbench.call(() -> cache.fetchAll(patient, List.of(1, 2), source))
                .awaitWaiting();
        assertThat(source.calls).isEmpty();
        loader.letGo();
        assertThat(first.result()).isEqualTo("first");
        assertThat(batch.result()).hasSize(2);
    }

    /** Its time for a permit would be over, too. */
    @Test
    void aBatchThatHasWaitedLongEnoughForAnotherNodeNeedsNoPermit() throws Exception {
        Workbench bench = new Workbench();
        EasyCacheEngine cache = recovered(bench, 1);
        CacheSpec<String> spec = Workbench.ap();
        CacheSpec<String> hasty = spec.withOptions(spec.options().toBuilder()
                .loadLease(Duration.ofMinutes(1))
                .loadWaitTimeout(SHORT)
                .build());
        GatedLoader<String> foreign = new GatedLoader<>(() -> "foreign");
        Caller<String> other = Workbench.call(() -> bench.node().fetch(hasty.key(2), foreign));
        foreign.awaitEntered();
        GatedLoader<String> loader = new GatedLoader<>(() -> "first");
        Caller<String> first = Workbench.call(() -> cache.fetch(spec.key(9), loader));
        loader.awaitEntered();

        assertThat(cache.fetchAll(hasty, List.of(2), new BatchSource())).containsExactly(Map.entry(2, "2"));

        loader.letGo();
        foreign.letGo();
        assertThat(first.result()).isEqualTo("first");
        assertThat(other.result()).isEqualTo("foreign");
    }

    /** The number of permits doubles with each second. */
    @Test
    void theGreatestNumberOfLoadsLetsReadersInAfterAnOutage() {
        ManualClock clock = new ManualClock();
        LoadBulkhead greatest = new LoadBulkhead(DegradedOptions.MAX_CONCURRENT_LOADS, clock);
        CacheKey<String> key = Workbench.ap().key(1);
        greatest.onAvailable(true);
        for (int second = 0; second <= LoadBulkhead.FADING_STEPS; second++) {
            assertThat(greatest.isFading()).isEqualTo(second < LoadBulkhead.FADING_STEPS);
            Permit permit = greatest.tryEnterOverdue(key);
            assertThat(permit).as("after %d s", second).isNotNull();
            permit.close();
            clock.advance(Duration.ofSeconds(1));
        }
    }

    /** A cache whose Redis is back since this moment. */
    private static EasyCacheEngine recovered(Workbench bench, int concurrentLoads) {
        EasyCacheEngine cache = bench.node(withLoads(concurrentLoads));
        CacheCluster cluster = Objects.requireNonNull(cache.cluster(CacheSpec.DEFAULT_CLUSTER));
        lose(cluster.availability().breakers().get(0));
        recover(cluster.workers().get(0));
        assertThat(cluster.availability().state()).isEqualTo(State.AVAILABLE);
        return cache;
    }

    private static DegradedOptions withLoads(int concurrentLoads) {
        return new DegradedOptions(
                Duration.ofMinutes(1), concurrentLoads, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 2);
    }

    private static void lose(CircuitBreaker breaker) {
        breaker.unavailable(new StoreUnavailableException("away", true, null));
    }

    private static void recover(RecoveryWorker worker) {
        for (int i = 0; i < CircuitBreakerOptions.defaults().probesToRecover(); i++) {
            worker.tick();
        }
    }

    /** How many of the readers load while the others wait. */
    private static int loadsAtATime(EasyCacheEngine cache, int readers) throws Exception {
        CacheSpec<String> spec = Workbench.ap();
        CacheSpec<String> patient = spec.withOptions(
                spec.options().toBuilder().loadWaitTimeout(LONG).build());
        AtomicInteger running = new AtomicInteger();
        CountDownLatch gate = new CountDownLatch(1);
        List<Caller<String>> all = new ArrayList<>();
        for (int i = 0; i < readers; i++) {
            CacheKey<String> key = patient.key(1_000 * readers + i);
            all.add(Workbench.call(() -> cache.fetch(key, () -> {
                running.incrementAndGet();
                assertThat(gate.await(30, TimeUnit.SECONDS)).isTrue();
                return "value";
            })));
        }
        for (Caller<String> reader : all) {
            reader.awaitWaiting();
        }
        int most = running.get();
        gate.countDown();
        for (Caller<String> reader : all) {
            assertThat(reader.result()).isEqualTo("value");
        }
        return most;
    }

    /** As many as there are, each on a thread of its own. */
    private static List<Permit> enterAll(LoadBulkhead limit, int expected) throws Exception {
        List<Permit> taken = new ArrayList<>();
        for (int id = 0; id < expected + 3; id++) {
            CacheKey<String> key = Workbench.ap().key(id);
            Permit permit = Workbench.call(() -> limit.tryEnterOverdue(key)).result();
            if (permit != null) {
                taken.add(permit);
            }
        }
        return taken;
    }

    /** Each reader on a thread of its own. */
    private static List<Permit> overdue(LoadBulkhead limit, int id, int readers) throws Exception {
        List<Permit> taken = new ArrayList<>();
        for (Caller<Permit> reader : Workbench.call(
                readers, () -> limit.tryEnterOverdue(Workbench.ap().key(id)))) {
            Permit permit = reader.result();
            if (permit != null) {
                taken.add(Objects.requireNonNull(permit));
            }
        }
        return taken;
    }

    private static ReadRequest<String> read(Duration waiting, Loader<String, ?> loader) {
        CacheSpec<String> spec = Workbench.ap();
        CacheKey<String> key = spec.withOptions(
                        spec.options().toBuilder().loadWaitTimeout(waiting).build())
                .key(1);
        return new ReadRequest<>(key, loader, any -> true, System.nanoTime());
    }

    private Caller<String> call(Duration waiting, Loader<String, RuntimeException> loader) {
        return Workbench.call(() -> load(limit, read(waiting, loader)));
    }

    private static String load(LoadBulkhead limit, ReadRequest<String> read) {
        Permit permit = limit.enter(read);
        try (permit) {
            return permit == null
                    ? limit.<String>refused(read, 0).get()
                    : read.loader().load();
        } catch (Throwable failure) {
            throw new IllegalStateException(failure);
        }
    }
}
