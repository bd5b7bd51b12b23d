package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.LoadObserver;
import io.easykit.cache.Reload;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Operation;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database is slow, and readers get expired values instead of waiting. */
@Timeout(60)
class SoftTimeoutTests {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration KEPT = Duration.ofSeconds(20);
    private static final Duration NEVER_OVER = Duration.ofSeconds(30);

    private final Workbench bench = new Workbench();
    private final ExecutorService threads = Executors.newFixedThreadPool(2);
    private final EasyCacheEngine cache =
            bench.builder(new JacksonValueCodec()).background(threads).buildStopped();
    private final AtomicInteger trials = new AtomicInteger();
    private final GatedLoader<String> slow = new GatedLoader<>(() -> "new");
    private final CacheKey<String> impatient = spec(Duration.ofMillis(20)).key(1);
    private final CacheKey<String> patient = spec(NEVER_OVER).key(1);

    @AfterEach
    void end() {
        slow.letGo();
        threads.shutdown();
    }

    private static CacheSpec<String> spec(Duration softTimeout) {
        CacheSpec<String> spec = Workbench.ap();
        CacheOptions options = spec.options().toBuilder()
                .ttl(TTL)
                .refreshAhead(Duration.ZERO)
                .staleOnError(StaleOnErrorOptions.keptFor(KEPT).withLoadSoftTimeout(softTimeout))
                .build();
        return spec.withOptions(options);
    }

    private String fail() {
        trials.incrementAndGet();
        throw new IllegalStateException("no database");
    }

    private void expire(CacheKey<String> stored) {
        cache.fetch(stored, () -> "old");
        bench.clock.advance(TTL);
        bench.events.next();
    }

    @Test
    void returnsTheExpiredValueAndStoresTheNewOneLater() throws Exception {
        expire(impatient);
        assertThat(cache.fetch(impatient, slow)).isEqualTo("old");
        assertThat(bench.events.next()).containsExactly("hit EXPIRED");
        slow.awaitEntered();
        slow.letGo();
        await().until(() -> bench.store.peek(impatient, 0, false) != null);
        assertThat(cache.fetch(impatient, this::fail)).isEqualTo("new");
        assertThat(slow.loads()).isEqualTo(1);
    }

    @Test
    void returnsTheNewValueInTime() {
        Set<String> where = ConcurrentHashMap.newKeySet();
        expire(patient);
        assertThat(cache.fetch(patient, () -> {
                    where.add(Thread.currentThread().getName());
                    return "new";
                }))
                .isEqualTo("new");
        assertThat(where).doesNotContain(Thread.currentThread().getName());
        assertThat(bench.events.next()).containsExactly("load STORED", "miss");
    }

    @Test
    void joinsNoLoadOfAnotherType() throws Exception {
        CacheKey<Integer> number = CacheSpec.of("name", Integer.class)
                .withOptions(patient.spec().options())
                .key(1);
        cache.fetch(number, () -> 1);
        expire(patient);
        Caller<String> text = Workbench.call(() -> cache.fetch(patient, slow));
        slow.awaitEntered();
        Caller<Integer> other = Workbench.call(() -> cache.fetch(number, () -> 2));
        assertThat(other.result()).isEqualTo(2);
        slow.letGo();
        assertThat(text.result()).isEqualTo("new");
    }

    @Test
    void loadsOnceForManyReaders() throws Exception {
        expire(patient);
        List<Caller<String>> readers = Workbench.call(30, () -> cache.fetch(patient, slow));
        slow.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        slow.letGo();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("new");
        }
        assertThat(slow.loads()).isEqualTo(1);
        assertThat(reads()).hasSize(30).contains("miss");
    }

    @Test
    void countsEachReaderOnceIfTheLoadFails() throws Exception {
        expire(patient);
        List<Caller<String>> readers = Workbench.call(30, () -> cache.fetch(patient, () -> slow.load() + fail()));
        slow.awaitEntered();
        readers.forEach(Caller::awaitWaiting);
        slow.letGo();
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("old");
        }
        assertThat(reads()).hasSize(30).containsOnly("hit EXPIRED");
    }

    private List<String> reads() {
        return bench.events.next().stream()
                .filter(event -> !event.startsWith("load"))
                .toList();
    }

    /** The thread that started the load is not the one that runs it: it may come again. */
    @Test
    void doesNotWaitAgainForALoadThatHasRunForTheTimeoutAlready() throws Exception {
        expire(impatient);
        for (int i = 0; i < 20; i++) {
            assertThat(cache.fetch(impatient, slow)).isEqualTo("old");
            bench.clock.advance(Duration.ofMillis(20));
        }
        slow.awaitEntered();
        assertThat(slow.loads()).isEqualTo(1);
    }

    @Test
    void passesAFailureInTimeAsWithoutTheTimeout() {
        expire(patient);
        for (int i = 0; i < 3; i++) {
            assertThat(cache.fetch(patient, this::fail)).isEqualTo("old");
        }
        assertThat(trials).hasValue(1);
        bench.clock.advance(KEPT);
        assertThatThrownBy(() -> cache.fetch(patient, this::fail)).hasMessage("no database");
    }

    @Test
    void pausesAfterAFailureThatNoReaderHasWaitedFor() throws Exception {
        expire(impatient);
        GatedLoader<String> failing = new GatedLoader<>(() -> "late");
        assertThat(cache.fetch(impatient, () -> {
                    failing.load();
                    return fail();
                }))
                .isEqualTo("old");
        failing.awaitEntered();
        failing.letGo();
        await().until(() -> bench.events.next().contains("load FAILED"));
        assertThat(cache.fetch(impatient, this::fail)).isEqualTo("old");
        assertThat(trials).hasValue(1);
    }

    @Test
    void waitsForTheLoadIfTheValueIsInvalidatedMeanwhile() throws Exception {
        expire(impatient);
        EasyCacheEngine elsewhere = bench.node();
        Executor invalidating = load -> {
            elsewhere.invalidate(impatient);
            threads.execute(load);
        };
        EasyCacheEngine node =
                bench.builder(new JacksonValueCodec()).background(invalidating).buildStopped();
        Caller<String> reader = Workbench.call(() -> node.fetch(impatient, slow));
        slow.awaitEntered();
        reader.awaitWaiting();
        slow.letGo();
        assertThat(reader.result()).isEqualTo("new");
    }

    @Test
    void boundsTheWaitForAnotherNode() {
        expire(impatient);
        CacheOptions longLease =
                impatient.spec().options().toBuilder().loadLease(TTL).build();
        bench.store.fetch(impatient.spec().withOptions(longLease).key(1), 0);
        bench.clock.onPause(() -> slow.load());
        assertThat(cache.fetch(impatient, this::fail)).isEqualTo("old");
        assertThat(trials).hasValue(0);
    }

    @Test
    void returnsTheExpiredValueIfNoThreadIsFree() {
        expire(impatient);
        bench.background.setFull(true);
        EasyCacheEngine full = bench.node();
        assertThat(full.fetch(impatient, this::fail)).isEqualTo("old");
        bench.background.setFull(false);
        assertThat(full.fetch(impatient, this::fail)).isEqualTo("old");
        assertThat(trials).hasValue(0);
        bench.background.runAll();
        assertThat(trials).hasValue(1);
    }

    @Test
    void loadsOnItsOwnThreadIfThereIsNoExpiredValue() {
        assertThat(cache.fetch(impatient, () -> Thread.currentThread().getName()))
                .isEqualTo(Thread.currentThread().getName());
    }

    @Test
    void doesNotApplyToALoaderThatHasToStayOnItsThread() {
        CacheOptions caller =
                impatient.spec().options().toBuilder().reload(Reload.CALLER).build();
        CacheKey<String> own = impatient.spec().withOptions(caller).key(1);
        expire(own);
        assertThat(cache.fetch(own, () -> Thread.currentThread().getName()))
                .isEqualTo(Thread.currentThread().getName());
    }

    @Test
    void readsTheStoreOnceMoreOnlyWithTheSetting() {
        expire(patient);
        bench.store.fetch(patient, 0);
        CacheKey<String> without = spec(Duration.ZERO).key(2);
        expire(without);
        int before = bench.store.count(Operation.PEEK);
        assertThat(cache.fetch(without, () -> "new")).isEqualTo("new");
        assertThat(bench.store.count(Operation.PEEK)).isEqualTo(before);
    }

    @Test
    void goesOnWithoutRedisIfThatIsLostMeanwhile() {
        expire(patient);
        bench.store.onNext(Operation.FETCH, bench.store::away);
        assertThat(cache.fetch(patient, () -> "local")).isEqualTo("local");
    }

    /** An executor may accept a task and drop it. */
    @Test
    void loadsOnTheThreadOfOneReaderIfNoThreadHasTakenTheMiss() throws Exception {
        expire(impatient);
        EasyCacheEngine node =
                bench.builder(new JacksonValueCodec()).background(task -> {}).buildStopped();
        assertThat(node.fetch(impatient, this::fail)).isEqualTo("old");
        bench.clock.advance(Duration.ofSeconds(4));
        Caller<String> one = Workbench.call(() -> node.fetch(impatient, slow));
        slow.awaitEntered();
        assertThat(node.fetch(impatient, this::fail)).isEqualTo("old");
        slow.letGo();
        assertThat(one.result()).isEqualTo("new");
        assertThat(trials).hasValue(0);
        assertThat(node.fetch(impatient, this::fail)).isEqualTo("new");
    }

    /** The interrupt concerns the reader whose thread runs the load. */
    @Test
    void startsTheNextMissAfterOneThatIsInterrupted() throws Exception {
        expire(patient);
        AtomicBoolean isFree = new AtomicBoolean();
        EasyCacheEngine node = bench.builder(new JacksonValueCodec())
                .background(task -> {
                    if (isFree.get()) {
                        threads.execute(task);
                    }
                })
                .buildStopped();
        assertThat(node.fetch(impatient, this::fail)).isEqualTo("old");
        bench.clock.advance(Duration.ofSeconds(4));
        CountDownLatch entered = new CountDownLatch(1);
        Caller<String> one = Workbench.call(() -> node.fetch(patient, () -> {
            entered.countDown();
            try {
                new CountDownLatch(1).await();
                throw new AssertionError("nobody opens it");
            } catch (InterruptedException stop) {
                throw new IllegalStateException("The driver was interrupted", stop);
            }
        }));
        assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
        Caller<String> other = Workbench.call(() -> node.fetch(patient, () -> "new"));
        other.awaitWaiting();

        isFree.set(true);
        one.interrupt();

        assertThat(one.failure()).hasMessage("The driver was interrupted");
        assertThat(other.result()).isEqualTo("new");
    }

    @Test
    void loadsAKeyWhileAllThreadsHangWithOthers() throws Exception {
        ThreadPoolExecutor full = new ThreadPoolExecutor(2, 2, 1, TimeUnit.SECONDS, new SynchronousQueue<>());
        for (ExecutorService pool : List.of(threads, full)) {
            EasyCacheEngine node =
                    bench.builder(new JacksonValueCodec()).background(pool).buildStopped();
            List<CacheKey<String>> keys = List.of(
                    impatient.spec().key(1),
                    impatient.spec().key(2),
                    impatient.spec().key(3));
            keys.forEach(key -> bench.node().fetch(key, () -> "old"));
            bench.clock.advance(TTL);
            for (CacheKey<String> key : keys.subList(0, 2)) {
                GatedLoader<String> hangs = new GatedLoader<>(() -> "late");
                assertThat(node.fetch(key, () -> hangs.load() + slow.load())).isEqualTo("old");
                hangs.awaitEntered();
                hangs.letGo();
            }
            assertThat(node.fetch(keys.get(2), () -> "new")).isEqualTo("old");
            bench.clock.advance(Duration.ofSeconds(1));
            assertThat(node.fetch(keys.get(2), () -> "new")).isEqualTo("new");
            bench.clock.advance(TTL.plus(KEPT));
        }
        full.shutdown();
    }

    @Test
    void replacesAMissThatHangsAfterAPause() throws Exception {
        CacheKey<String> own = impatient
                .spec()
                .withOptions(impatient.spec().options().toBuilder()
                        .staleOnError(StaleOnErrorOptions.keptFor(Duration.ofMinutes(10))
                                .withLoadSoftTimeout(Duration.ofMillis(20)))
                        .loadWaitTimeout(Duration.ofMillis(50))
                        .build())
                .key(1);
        expire(own);
        assertThat(cache.fetch(own, slow)).isEqualTo("old");
        slow.awaitEntered();
        long before = bench.clock.millis();
        await().atMost(Duration.ofSeconds(5)).until(() -> {
            bench.clock.advance(Duration.ofSeconds(1));
            return cache.fetch(own, () -> "next").equals("next");
        });
        assertThat(bench.clock.millis() - before)
                .isLessThan(Duration.ofMinutes(9).toMillis());
        assertThat(cache.fetch(own, this::fail)).isEqualTo("next");
    }

    /** Its value is too old for a reader that came later. */
    @Test
    void startsTheNextMissAfterOneWhoseResultIsNotForTheReader() throws Exception {
        CacheKey<String> own = patient.spec()
                .withOptions(patient.spec().options().toBuilder()
                        .staleWindow(Duration.ZERO)
                        .build())
                .key(1);
        expire(own);
        Caller<String> first = Workbench.call(() -> cache.fetch(own, () -> {
            slow.load();
            bench.node().invalidate(own);
            return "first";
        }));
        slow.awaitEntered();
        bench.clock.advance(Duration.ofMillis(10));
        Thread[] where = new Thread[2];
        Caller<String> second = Workbench.call(() -> {
                    where[0] = Thread.currentThread();
                    return cache.fetch(own, () -> {
                        where[1] = Thread.currentThread();
                        return "second";
                    });
                })
                .awaitWaiting();
        slow.letGo();
        assertThat(first.result()).isEqualTo("first");
        assertThat(second.result()).isEqualTo("second");
        assertThat(where[1]).isNotNull().isNotSameAs(where[0]);
    }

    /** For example with a stack overflow. */
    @Test
    void aMissWhoseResultCannotBeSharedEndsTheWaitOfItsReader() throws Exception {
        AtomicBoolean fails = new AtomicBoolean();
        Type type = new ParameterizedType() {
            @Override
            public Type[] getActualTypeArguments() {
                return new Type[] {String.class};
            }

            @Override
            public Type getRawType() {
                if (fails.get()) {
                    throw new StackOverflowError();
                }
                return List.class;
            }

            @Override
            public @Nullable Type getOwnerType() {
                return null;
            }
        };
        CacheKey<List<String>> key = CacheSpec.<List<String>>of("list", type)
                .withOptions(patient.spec().options())
                .key(1);
        EngineContext engine = new EngineContext(
                new ValueEnvelopes(new JacksonValueCodec(), bench.clock),
                bench.transactions,
                threads,
                CacheListener.NONE,
                LoadObserver.NONE,
                bench.clock);
        SoftTimeoutLoads loads = new SoftTimeoutLoads(new LoadBulkhead(1, bench.clock), engine);
        ReadRequest<List<String>> read = new ReadRequest<>(key, List::of, any -> true, bench.clock.nanoTime());

        Caller<SoftTimeoutLoads.Waited<List<String>>> reader = Workbench.call(() -> loads.await(read, read, any -> {
            fails.set(true);
            return new LoadResult.Loaded<>(List.of("value"), bench.clock.nanoTime());
        }));
        assertThat(reader.result()).isInstanceOf(SoftTimeoutLoads.Waited.Alone.class);
    }

    @Test
    void givesTheExpiredValueAlsoToReadersThatHaveJoinedARejectedMiss() throws Exception {
        expire(impatient);
        List<Caller<String>> second = new ArrayList<>();
        AtomicReference<EasyCacheEngine> node = new AtomicReference<>();
        node.set(bench.builder(new JacksonValueCodec())
                .background(task -> {
                    second.add(Workbench.call(() -> node.get().fetch(patient, this::fail))
                            .awaitWaiting());
                    throw new RejectedExecutionException("full");
                })
                .buildStopped());
        assertThat(node.get().fetch(patient, this::fail)).isEqualTo("old");
        assertThat(second.get(0).result()).isEqualTo("old");
        assertThat(trials).hasValue(0);
    }

    @Test
    void logsOnceThatLoadsAreInTimeAgain() throws Exception {
        expire(impatient);
        try (LogCapture log = LogCapture.of(FailedLoads.class)) {
            assertThat(cache.fetch(impatient, slow)).isEqualTo("old");
            slow.letGo();
            await().until(() -> bench.store.peek(impatient, 0, false) != null);
            await().until(() -> !log.infos().isEmpty());
            assertThat(log.warnings()).hasSize(1);
            assertThat(log.infos()).containsExactly("Loads succeed again, after 1 expired values were returned");
        }
    }

    record Counted(String text) {

        static final AtomicInteger OLD = new AtomicInteger();

        Counted {
            if (text.equals("old")) {
                OLD.incrementAndGet();
            }
        }
    }

    @Test
    void decodesTheExpiredValueOnlyToReturnIt() {
        CacheKey<Counted> counted = CacheSpec.of("counted", Counted.class)
                .withOptions(patient.spec().options())
                .key(1);
        cache.fetch(counted, () -> new Counted("old"));
        bench.clock.advance(TTL);
        int before = Counted.OLD.get();
        assertThat(cache.fetch(counted, () -> new Counted("new"))).isEqualTo(new Counted("new"));
        assertThat(Counted.OLD).hasValue(before);
    }
}
