package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.time.EngineTime;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.ParameterizedTypeReference;

class NearLevelTests {

    private static final Duration NEAR = Duration.ofMinutes(1);

    private final Workbench bench = new Workbench();
    private final Map<String, Runnable> before = new ConcurrentHashMap<>();
    private final Map<String, Runnable> after = new ConcurrentHashMap<>();
    private final EasyCacheEngine here = node();
    private final EasyCacheEngine elsewhere = node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheSpec<String> spec = near(Workbench.ap());
    private final CacheKey<String> key = spec.key(1);

    private EasyCacheEngine node() {
        return nodeBuilder().buildStopped();
    }

    private EasyCacheEngine.Builder nodeBuilder() {
        return bench.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, observed(bench.store))
                .nearLevels(() -> CaffeineLocalLevel.near(100, System::nanoTime));
    }

    private static <V> CacheSpec<V> near(CacheSpec<V> spec) {
        return spec.withOptions(
                spec.options().toBuilder().ttlJitter(0).nearTtl(NEAR).build());
    }

    /** Runs the hooks of a test before and after the next command of a name, in this thread. */
    private EntryStore observed(EntryStore store) {
        return (EntryStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {EntryStore.class}, (proxy, method, arguments) -> {
                    run(before.remove(method.getName()));
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                    } finally {
                        run(after.remove(method.getName()));
                    }
                });
    }

    private static void run(Runnable hook) {
        if (hook != null) {
            hook.run();
        }
    }

    private String read(EasyCacheEngine node) {
        return node.fetch(key, database::get);
    }

    private void update(EasyCacheEngine node) {
        node.update(List.of(key), () -> {
            database.set("new");
            return null;
        });
    }

    private static void tick(EasyCacheEngine node) {
        node.cluster(CacheSpec.DEFAULT_CLUSTER).workers().forEach(RecoveryWorker::tick);
    }

    /** Whether a read of this node gets its value without the store. */
    private <V> boolean hitsNear(EasyCacheEngine node, CacheKey<V> one) {
        int reads = bench.store.count(Operation.READ);
        bench.events.next();
        node.fetch(one, () -> null, any -> false);
        boolean near = bench.events.next().equals(List.of("hit NEAR"));
        assertThat(bench.store.count(Operation.READ) == reads).isEqualTo(near);
        return near;
    }

    @Test
    void answersWithoutTheStoreFromTheLoadOn() {
        read(here);
        int commands = bench.store.count();
        bench.events.next();
        assertThat(read(here)).isEqualTo("old");
        assertThat(bench.events.next()).containsExactly("hit NEAR");
        assertThat(bench.store.count()).isEqualTo(commands);
    }

    @Test
    void answersWithoutTheStoreFromTheFirstHitOn() {
        read(elsewhere);
        assertThat(hitsNear(here, key)).isFalse();
        assertThat(hitsNear(here, key)).isTrue();
    }

    @Test
    void isNeitherUsedNorFilledByReadsOfSeveralKeys() {
        here.fetchAll(spec, List.of(1, 2), missing -> Map.of(1, "old", 2, "old"));
        assertThat(hitsNear(here, key)).isFalse();
        assertThat(hitsNear(here, key)).isTrue();
        bench.events.next();
        here.fetchAll(spec, List.of(1, 2), missing -> Map.of());
        assertThat(bench.events.next()).containsExactly("hit FRESH", "hit FRESH");
    }

    @Test
    void isOffUnlessSet() {
        CacheKey<String> other = Workbench.ap().key(1);
        here.fetch(other, () -> "value");
        assertThat(hitsNear(here, other)).isFalse();
        assertThat(hitsNear(here, other)).isFalse();
    }

    @Test
    void missesAnUpdateOfAnotherNodeForLessThanItsTtl() {
        read(elsewhere);
        read(here);
        update(elsewhere);
        bench.clock.advance(NEAR.minusNanos(1));
        assertThat(read(here)).isEqualTo("old");
        bench.clock.advance(Duration.ofNanos(1));
        assertThat(read(here)).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(
            value = Operation.class,
            names = {"READ", "STORE"})
    void countsItsTtlFromTheTimeAtWhichTheCommandWasSent(Operation operation) {
        Duration slow = Duration.ofSeconds(20);
        if (operation == Operation.READ) {
            read(elsewhere);
        }
        after.put(operation == Operation.READ ? "read" : "store", () -> bench.clock.advance(slow));
        read(here);
        bench.clock.advance(NEAR.minus(slow).minusNanos(1));
        assertThat(hitsNear(here, key)).isTrue();
        bench.clock.advance(Duration.ofNanos(1));
        assertThat(hitsNear(here, key)).isFalse();
    }

    @Test
    void doesNotKeepWhatIsTooOldWhenItArrives() {
        read(elsewhere);
        after.put("read", () -> bench.clock.advance(NEAR));
        read(here);
        assertThat(hitsNear(here, key)).isFalse();
    }

    @Test
    void keepsNoStaleValue() {
        read(elsewhere);
        update(elsewhere);
        assertThat(read(here)).isEqualTo("old");
        assertThat(bench.events.next()).contains("hit STALE");
        assertThat(hitsNear(here, key)).isFalse();
        bench.background.runAll();
        assertThat(read(here)).isEqualTo("new");
    }

    @Test
    void keepsNothingThatWasLoadedInATransaction() {
        bench.transactions.begin();
        read(here);
        bench.transactions.commit(() -> {});
        assertThat(hitsNear(here, key)).isFalse();
    }

    @Test
    void isNotUsedForWhatTheTransactionUpdates() {
        read(here);
        bench.transactions.begin();
        here.update(List.of(key), () -> null);
        assertThat(here.fetch(key, () -> "uncommitted")).isEqualTo("uncommitted");
        bench.transactions.commit(() -> database.set("new"));
        assertThat(read(here)).isEqualTo("new");
    }

    @Test
    void keepsNothingThatTheStoreHasNot() {
        here.fetch(key, () -> "vetoed", any -> false);
        assertThat(here.fetch(key, () -> "second", any -> false)).isEqualTo("second");

        bench.store.failNext(Operation.STORE, Fault.LOST_REPLY);
        here.fetch(key, () -> "unknown");
        assertThat(hitsNear(here, key)).isFalse();
    }

    @Test
    void keepsNoRejectedValue() {
        assertThat(here.fetch(key, () -> {
                    elsewhere.invalidate(key);
                    return "old";
                }))
                .isEqualTo("old");
        assertThat(here.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void isNotUsedInsideALoad() {
        read(here);
        elsewhere.update(List.of(key), () -> {
            database.set("new");
            return null;
        });
        assertThat(read(here)).isEqualTo("old");
        assertThat(here.fetch(spec.key("view"), () -> "view of " + read(here))).isEqualTo("view of new");
    }

    @Test
    void keepsNothingOfAReadInsideALoad() {
        read(elsewhere);
        here.fetch(spec.key("view"), () -> "view of " + read(here));
        assertThat(hitsNear(here, key)).isFalse();
        assertThat(hitsNear(here, spec.key("view"))).isTrue();
    }

    /** Such a thread may help the load, without its scope. */
    @Test
    void isNotUsedOnForkJoinThreadsWhileALoadRuns() {
        read(here);
        here.fetch(spec.key("view"), () -> {
            int reads = bench.store.count(Operation.READ);
            ForkJoinPool.commonPool().submit(() -> read(here)).join();
            assertThat(bench.store.count(Operation.READ)).isGreaterThan(reads);
            return "view";
        });
    }

    // Updates of this node

    @Test
    void losesTheKeyOfAnUpdateWhenThatIsPrepared() throws Exception {
        read(here);
        here.update(List.of(key), () -> {
            Caller<Boolean> other = Workbench.call(() -> hitsNear(here, key));
            assertThat(other.result()).isFalse();
            database.set("new");
            return null;
        });
        assertThat(read(here)).isEqualTo("new");
        assertThat(hitsNear(here, key)).isTrue();
    }

    /** Where a reader is when this node updates its key. */
    enum Point {
        BEFORE_THE_READ,
        AFTER_THE_READ,
        BEFORE_THE_STORE,
        AFTER_THE_STORE
    }

    enum Way {
        UPDATE {
            @Override
            void run(NearLevelTests test) {
                test.update(test.here);
            }
        },
        INVALIDATION {
            @Override
            void run(NearLevelTests test) {
                test.database.set("new");
                test.here.invalidate(test.key);
            }
        },
        LATE_INVALIDATION {
            @Override
            void run(NearLevelTests test) {
                UNDELIVERED.run(test);
                tick(test.here);
                assertThat(test.here.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
            }
        },
        UNDELIVERED {
            @Override
            void run(NearLevelTests test) {
                test.database.set("new");
                test.bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
                test.here.invalidate(test.key);
                assertThat(test.here.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);
            }
        };

        abstract void run(NearLevelTests test);
    }

    static Stream<Arguments> racesWithAnUpdate() {
        return Stream.of(Point.values())
                .flatMap(point -> Stream.of(Way.values()).map(way -> Arguments.of(point, way)));
    }

    @ParameterizedTest
    @MethodSource("racesWithAnUpdate")
    void keepsNothingFromBeforeAnUpdateThatOvertakesTheReader(Point point, Way way) {
        boolean loads = point == Point.BEFORE_THE_STORE || point == Point.AFTER_THE_STORE;
        if (!loads) {
            read(elsewhere);
        }
        boolean early = point == Point.BEFORE_THE_READ || point == Point.BEFORE_THE_STORE;
        (early ? before : after).put(loads ? "store" : "read", () -> way.run(this));
        read(here);
        bench.clock.advance(spec.options().staleWindow().plusSeconds(2));
        assertThat(read(here)).isEqualTo("new");
    }

    /** The reader begins after the update has removed the key, and finds the value that the command is about to drop. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"INVALIDATION", "LATE_INVALIDATION"})
    void losesWhatWasReadWhileTheInvalidationWasOnItsWay(Way way) {
        read(here);
        before.put(way == Way.INVALIDATION ? "invalidate" : "invalidateNow", () -> read(here));
        way.run(this);
        bench.clock.advance(spec.options().staleWindow().plusSeconds(2));
        assertThat(read(here)).isEqualTo("new");
    }

    /** Another node computes the view from the old value, which could not be invalidated yet. */
    @Test
    void losesTheOtherKeysOfAnUpdateThatIsDeliveredAfterTheStop() throws Exception {
        bench.store.inParts(2);
        Set<Thread> ofOthers = recoveryThreads();
        EasyCacheEngine stopped = nodeBuilder().build();
        EasyCacheEngine other = node();
        other.fetch(key, database::get);
        await().until(() ->
                stopped.availability(CacheSpec.DEFAULT_CLUSTER).masters().size() == 2);
        // Its first round may be on its way, and must not meet the fault.
        tick(stopped);
        CacheKey<String> view = spec.key(2);
        bench.store.away(1);
        database.set("new");
        stopped.invalidate(List.of(view, key));
        stopped.stop();
        // A delivery that has begun goes on for a moment.
        await().until(() -> ofOthers.containsAll(recoveryThreads()));
        bench.clock.advance(spec.options().updateLease());
        bench.store.back(1);
        other.fetch(view, () -> "view of " + other.fetch(key, database::get));
        assertThat(stopped.fetch(view, () -> "never")).isEqualTo("view of old");
        assertThat(hitsNear(stopped, view)).isTrue();

        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        stopped.invalidate(spec.key(4));

        assertThat(stopped.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
        assertThat(stopped.fetch(view, () -> "view of " + database.get())).isEqualTo("view of new");
    }

    private static Set<Thread> recoveryThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("easy-cache-recovery-"))
                .collect(Collectors.toSet());
    }

    @Test
    void isNotUsedWhileAnInvalidationIsUndelivered() {
        read(here);
        Way.UNDELIVERED.run(this);
        assertThat(read(here)).isEqualTo("new");
        database.set("newer");
        assertThat(read(here)).isEqualTo("newer");
    }

    @Test
    void keepsWhatIsReadAfterTheUpdate() {
        update(here);
        assertThat(read(here)).isEqualTo("new");
        assertThat(hitsNear(here, key)).isTrue();
    }

    // Epochs and availability

    @Test
    void isClearedWhenARaisedEpochBecomesKnown() {
        read(here);
        read(elsewhere);
        elsewhere.admin().drop(null, "name");
        database.set("new");
        assertThat(read(here)).isEqualTo("old");
        tick(here);
        assertThat(read(here)).isEqualTo("new");
    }

    @Test
    void isClearedByADropOnThisNode() {
        read(here);
        here.admin().drop(null, "name");
        database.set("new");
        assertThat(read(here)).isEqualTo("new");
    }

    @Test
    void isNotUsedWhileADropIsUndelivered() {
        read(here);
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        assertThat(here.admin().drop(null, "name")).isFalse();
        database.set("new");
        assertThat(read(here)).isEqualTo("new");
    }

    @Test
    void keepsNothingThatWasReadUnderAnOlderEpoch() {
        read(elsewhere);
        tick(here);
        after.put("read", () -> {
            elsewhere.admin().drop(null, "name");
            database.set("new");
            tick(here);
        });
        read(here);
        assertThat(read(here)).isEqualTo("new");
    }

    /** Where a read knows the epoch of its key, and has not sent its command. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void keepsNothingThatAClearingOfThisNodeOvertakes(boolean later) {
        bench.store.answeringLater();
        AtomicReference<Runnable> clearing = new AtomicReference<>();
        EasyCacheEngine node = nodeBuilder()
                .ticker(Ticker.of(new EngineTime() {
                    @Override
                    public long nanoTime() {
                        run(clearing.getAndSet(null));
                        return bench.clock.nanoTime();
                    }

                    @Override
                    public void pause(long nanos) throws InterruptedException {
                        bench.clock.pause(nanos);
                    }
                }))
                .async(Runnable::run)
                .buildStopped();
        tick(node);
        read(elsewhere);
        before.put(
                "epochHashOf",
                () -> clearing.set(() -> node.update(List.of(spec.all()), () -> {
                    database.set("new");
                    return null;
                })));

        if (later) {
            node.async()
                    .fetch(key, () -> CompletableFuture.completedFuture(database.get()))
                    .join();
        } else {
            read(node);
        }

        assertThat(database).hasValue("new");
        assertThat(read(node)).isEqualTo("new");
    }

    /** The store accepts such a value, and no reader of the store gets it. */
    @Test
    void keepsNothingThatWasLoadedUnderAnOlderEpoch() {
        here.fetch(key, () -> {
            here.admin().drop(null, "name");
            return "old";
        });
        database.set("new");
        assertThat(read(here)).isEqualTo("new");
    }

    @Test
    void isClearedWhenTheStoreBecomesUnavailableAndWhenItIsBack() {
        read(here);
        here.availability(CacheSpec.DEFAULT_CLUSTER).force(State.UNAVAILABLE);
        database.set("new");
        assertThat(read(here)).isEqualTo("new");
        here.availability(CacheSpec.DEFAULT_CLUSTER).reset();
        elsewhere.invalidate(key);
        int rounds = 0;
        while (here.availability(CacheSpec.DEFAULT_CLUSTER).state() != State.AVAILABLE) {
            tick(here);
            assertThat(++rounds).isLessThan(10);
        }
        bench.clock.advance(spec.options().staleWindow());
        database.set("newer");
        assertThat(read(here)).isEqualTo("newer");
    }

    @Test
    void keepsNothingOfAReadThatAnOutageOvertakes() {
        read(elsewhere);
        after.put("read", () -> {
            here.availability(CacheSpec.DEFAULT_CLUSTER).force(State.UNAVAILABLE);
            here.availability(CacheSpec.DEFAULT_CLUSTER).force(State.AVAILABLE);
        });
        read(here);
        assertThat(hitsNear(here, key)).isFalse();
    }

    // Life

    @Test
    void leavesTheRefreshToAReaderOfTheStore() {
        read(here);
        Duration ahead = spec.options().effectiveRefreshAhead();
        bench.clock.advance(spec.options().ttl().minus(ahead).minusSeconds(1));
        assertThat(hitsNear(here, key)).isFalse();
        assertThat(hitsNear(here, key)).isTrue();
        bench.clock.advance(Duration.ofSeconds(1));
        database.set("new");
        assertThat(read(here)).isEqualTo("old");
        assertThat(bench.background.size()).isEqualTo(1);
        bench.background.runAll();
        assertThat(read(here)).isEqualTo("new");
        assertThat(hitsNear(here, key)).isTrue();
    }

    @Test
    void keepsAbsenceForItsOwnShorterTime() {
        CacheKey<Optional<String>> absent = near(CacheSpec.<Optional<String>>of(
                        "absent", new ParameterizedTypeReference<Optional<String>>() {}.getType()))
                .key(1);
        CacheOptions shorter =
                spec.options().toBuilder().nullTtl(Duration.ofSeconds(10)).build();
        CacheKey<Optional<String>> one = absent.spec().withOptions(shorter).key(1);
        here.fetch(one, Optional::empty);
        bench.clock.advance(Duration.ofSeconds(8));
        assertThat(hitsNear(here, one)).isTrue();
        bench.clock.advance(Duration.ofSeconds(2));
        assertThat(here.fetch(one, () -> Optional.of("there"))).contains("there");
    }

    /** Two declarations of a cache may differ in this. */
    @Test
    void obeysTheTtlOfTheReader() {
        read(here);
        CacheOptions shorter =
                spec.options().toBuilder().nearTtl(Duration.ofSeconds(1)).build();
        bench.clock.advance(Duration.ofSeconds(1));
        assertThat(hitsNear(here, spec.withOptions(shorter).key(1))).isFalse();
    }

    // Values

    @Test
    void sharesWhatNobodyCanChange() {
        String text = new String("old");
        here.fetch(key, () -> text);
        assertThat(here.fetch(key, () -> "never")).isSameAs(text);
    }

    @Test
    void givesEachReaderACopyOfWhatCanBeChanged() {
        CacheKey<List<String>> names = near(CacheSpec.<List<String>>of(
                        "names", new ParameterizedTypeReference<List<String>>() {}.getType()))
                .key(1);
        here.fetch(names, () -> new ArrayList<>(List.of("Ada"))).add("Bob");
        here.fetch(names, List::of).add("Eve");
        assertThat(here.fetch(names, List::of)).containsExactly("Ada");
        assertThat(hitsNear(here, names)).isTrue();
    }

    @Test
    void givesNoReaderAValueOfAnotherType() {
        read(here);
        CacheKey<Integer> number = near(CacheSpec.of("name", Integer.class)).key(1);
        assertThat(here.fetch(number, () -> 7)).isEqualTo(7);
        assertThat(here.fetch(number, () -> 8)).isEqualTo(7);
    }

    @Test
    void isToldToPeople() {
        String near =
                "Readers on this node get the value of their near level, for at most 1m after it was read from Redis.";
        read(here);
        assertThat(here.admin().explain(key).sentences()).contains(near);
        bench.clock.advance(NEAR);
        assertThat(here.admin().explain(key).sentences()).doesNotContain(near);
        assertThat(here.admin().caches().get(0).worstStaleness()).isEqualTo(NEAR);
        assertThat(here.admin().caches().get(0).numbers().near()).isZero();
        read(here);
        read(here);
        assertThat(here.admin().caches().get(0).numbers().near()).isEqualTo(1);
    }

    // Many readers

    /** Waits for its readers without a limit, and counts afterwards: a slow machine changes nothing. */
    @Test
    void sparesTheStoreTheReadersOfAHotKey() throws Exception {
        int threads = 16;
        List<Callable<List<String>>> reads = Collections.nCopies(threads, this::readTenTimes);
        ExecutorService readers = Executors.newFixedThreadPool(threads);
        read(here);
        try {
            for (int round = 0; round < 5; round++) {
                int commands = bench.store.count();
                for (Future<List<String>> reader : readers.invokeAll(reads)) {
                    assertThat(reader.get()).containsOnly("old");
                }
                assertThat(bench.store.count() - commands)
                        .as("each reader that finds the value expired reads the store once")
                        .isBetween(round == 0 ? 0 : 1, round == 0 ? 0 : threads);
                bench.clock.advance(NEAR);
            }
        } finally {
            readers.shutdownNow();
        }
    }

    private List<String> readTenTimes() {
        return Stream.generate(() -> read(here)).limit(10).toList();
    }

    /** Each read is compared with the latest version whose update had ended a near TTL before the read began. */
    @Test
    void isNeverOlderThanItsTtlWhileBothNodesUpdate() throws Exception {
        AtomicInteger version = new AtomicInteger();
        CacheKey<Integer> counter = near(CacheSpec.of("counter", Integer.class)).key(1);
        for (int step = 0; step < 300; step++) {
            EasyCacheEngine updater = step % 2 == 0 ? here : elsewhere;
            updater.update(List.of(counter), () -> {
                version.incrementAndGet();
                return null;
            });
            int updated = version.get();
            List<Caller<Integer>> readers = Workbench.call(4, () -> updater.fetch(counter, () -> version.get()));
            for (Caller<Integer> reader : readers) {
                assertThat(reader.result()).as("read on the node that updated").isEqualTo(updated);
            }
            (step % 2 == 0 ? elsewhere : here).fetch(counter, () -> version.get());
            bench.background.runAll();
            if (step % 3 == 0) {
                bench.clock.advance(NEAR);
                for (EasyCacheEngine node : List.of(here, elsewhere)) {
                    assertThat(node.fetch(counter, () -> version.get())).isEqualTo(updated);
                }
            }
        }
    }
}
