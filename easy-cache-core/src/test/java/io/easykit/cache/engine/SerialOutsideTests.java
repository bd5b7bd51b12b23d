package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheOrderTimeoutException;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of a serial cache that must not wait for a turn, or not longer. Most waits have a bound of a minute. */
class SerialOutsideTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final CacheKey<String> key =
            serial(Consistency.AP, Duration.ofMinutes(1)).key(1);
    private final CacheKey<String> other = key.spec().key(2);

    private static CacheSpec<String> serial(Consistency consistency, Duration maxWait) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        return spec.withOptions(spec.options().toBuilder()
                .loadWaitTimeout(Duration.ofMinutes(1))
                .serial(SerialOptions.defaults().withMaxWait(maxWait))
                .build());
    }

    @AfterEach
    void noKeyIsBusyAtTheEnd() {
        Awaitility.await().until(() -> cache.busyKeys() == 0);
    }

    /** An action that has the turn of a key, without an update, until it is let go. */
    private static GatedLoader<String> occupy(EasyCacheEngine of, CacheKey<?> busy) throws InterruptedException {
        GatedLoader<String> gate = new GatedLoader<>(() -> "occupied");
        Workbench.call(() -> of.inOrder(List.of(busy), gate::load));
        gate.awaitEntered();
        return gate;
    }

    /** Ways to work on another thread, and to wait for it. */
    enum Elsewhere {
        FORK_JOIN {
            @Override
            void prepare() throws Exception {
                POOL.submit(() -> "started").get(10, TimeUnit.SECONDS);
            }

            @Override
            String run(Callable<String> work) throws Exception {
                return POOL.submit(work).get(10, TimeUnit.SECONDS);
            }
        },
        NEW_THREAD {
            @Override
            String run(Callable<String> work) throws Exception {
                return Workbench.call(work).result();
            }
        };

        private static final ForkJoinPool POOL = new ForkJoinPool(1);

        abstract String run(Callable<String> work) throws Exception;

        /** A thread of the pool inherits nothing from the action. */
        void prepare() throws Exception {}

        Action<String, RuntimeException> action(Callable<String> work) throws Exception {
            prepare();
            return () -> {
                try {
                    return run(work);
                } catch (Exception failed) {
                    throw new AssertionError(failed);
                }
            };
        }
    }

    /** The reader has the turn and waits for the permit, whose load reads the key behind a writer. */
    @Test
    void aLoadWithAPermitWaitsForNoTurn() throws Exception {
        EasyCacheEngine narrow = bench.node(degraded(1, CpReads.BYPASS));
        bench.store.away();
        GatedLoader<String> gate = new GatedLoader<>(() -> "");
        Caller<String> product =
                Workbench.call(() -> narrow.fetch(other, () -> gate.load() + narrow.fetch(key, () -> "category")));
        gate.awaitEntered();
        Caller<String> reader =
                Workbench.call(() -> narrow.fetch(key, () -> "read")).awaitWaiting();
        Caller<String> writer = Workbench.call(() -> narrow.update(List.of(key), () -> "written"))
                .awaitWaiting();
        gate.letGo();
        assertThat(product.result()).isEqualTo("category");
        assertThat(reader.result()).isEqualTo("read");
        assertThat(writer.result()).isEqualTo("written");
    }

    private static DegradedOptions degraded(int loads, CpReads reads) {
        return new DegradedOptions(Duration.ofMinutes(1), loads, reads, CpUpdates.REFUSE, ApUpdates.PROCEED, 100);
    }

    @Test
    void aCallOnTheConnectionOfAnEndedTransactionWaitsForNoTurn() throws Exception {
        GatedLoader<String> gate = occupy(cache, key);
        bench.transactions.keepConnection();
        try {
            Caller<String> reader = Workbench.call(() -> cache.fetch(key, () -> "read"));
            assertThat(reader.result()).isEqualTo("read");
            Caller<String> writer = Workbench.call(() -> cache.update(List.of(key), () -> "written"));
            assertThat(writer.result()).isEqualTo("written");
            assertThat(bench.transactions.own()).isEmpty();
        } finally {
            bench.transactions.giveBackConnection();
            gate.letGo();
        }
    }

    @Test
    void anUpdateInsideATurnHasATransactionOfItsOwn() {
        assertThatThrownBy(() -> cache.inOrder(
                        List.of(key),
                        () -> cache.update(List.of(key), () -> {
                            throw new IllegalStateException("second statement");
                        })))
                .hasMessage("second statement");
        assertThat(bench.transactions.own()).containsExactly("begin", "rollback");
        bench.transactions.own().clear();
        cache.fetch(key, () -> cache.update(List.of(key), () -> "inside a read"));
        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
        bench.transactions.own().clear();
        cache.fetch(Workbench.ap().key("view"), () -> cache.update(List.of(key), () -> "inside another load"));
        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
    }

    @Test
    void anUpdateInsideAnUpdateSharesItsTransaction() {
        cache.update(List.of(key), () -> cache.update(List.of(key), () -> cache.update(List.of(other), () -> "")));
        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
    }

    @ParameterizedTest
    @EnumSource(Elsewhere.class)
    void anActionMayUseItsKeyOnAnotherThread(Elsewhere elsewhere) throws Exception {
        assertThat(cache.inOrder(List.of(key), elsewhere.action(() -> cache.fetch(key, () -> "read"))))
                .isEqualTo("read");
        assertThat(cache.inOrder(List.of(key), elsewhere.action(() -> cache.update(List.of(key), () -> "written"))))
                .isEqualTo("written");
        assertThat(cache.update(List.of(key), elsewhere.action(() -> cache.fetch(key, () -> "read in an update"))))
                .isEqualTo("read in an update");
        assertThat(cache.updateInTransaction(
                        List.of(key), elsewhere.action(() -> cache.inOrder(List.of(key), () -> "in order"))))
                .isEqualTo("in order");
    }

    @ParameterizedTest
    @EnumSource(Elsewhere.class)
    void aLoadMayUpdateItsKeyOnAnotherThread(Elsewhere elsewhere) throws Exception {
        Action<String, RuntimeException> update = elsewhere.action(() -> cache.update(List.of(key), () -> "updated"));
        assertThat(cache.fetch(key, update::run)).isEqualTo("updated");
    }

    /** The other thread has the turn of the other key, and is inside its load. */
    @ParameterizedTest
    @EnumSource(Elsewhere.class)
    void aLoadOfTheOtherThreadMayUseTheKeyOfTheAction(Elsewhere elsewhere) throws Exception {
        assertThat(cache.inOrder(
                        List.of(key),
                        elsewhere.action(() -> cache.fetch(other, () -> cache.fetch(key, () -> "nested")))))
                .isEqualTo("nested");
    }

    @Test
    void aThreadThatOutlivesTheActionHasToWait() throws Exception {
        CountDownLatch begin = new CountDownLatch(1);
        AtomicBoolean over = new AtomicBoolean();
        List<Caller<Boolean>> created = new ArrayList<>();
        cache.inOrder(
                List.of(key),
                () -> created.add(Workbench.call(() -> {
                    begin.await(10, TimeUnit.SECONDS);
                    return cache.update(List.of(key), over::get);
                })));
        GatedLoader<String> gate = new GatedLoader<>(() -> "");
        Caller<Boolean> holder = Workbench.call(() -> cache.inOrder(List.of(key), () -> {
            gate.load();
            over.set(true);
            return true;
        }));
        gate.awaitEntered();
        begin.countDown();
        created.get(0).awaitWaiting();
        gate.letGo();
        assertThat(holder.result()).isTrue();
        assertThat(created.get(0).result()).isTrue();
    }

    @Test
    void aReadOfAnIdleKeyUsesAStoreThatIsAwayOnce() {
        bench.store.failNext(Operation.READ, Fault.LOST_REQUEST);
        assertThat(cache.fetch(key, () -> "value")).isEqualTo("value");
        assertThat(bench.store.count(Operation.READ)).isEqualTo(1);
    }

    @Test
    void aStrongReadOutsideTheOrderFailsWithoutTheStoreIfThatWasChosen() throws Exception {
        EasyCacheEngine failing = bench.node(degraded(10, CpReads.FAIL));
        CacheKey<String> strong = serial(Consistency.CP, Duration.ofMinutes(1)).key("strong");
        GatedLoader<String> gate = occupy(failing, strong);
        bench.store.away();
        AtomicInteger loads = new AtomicInteger();
        assertThatThrownBy(() -> failing.fetch(
                        Workbench.ap().key("view"),
                        () -> failing.fetch(strong, () -> "load " + loads.incrementAndGet())))
                .isInstanceOf(CacheUnavailableException.class);
        assertThat(loads).hasValue(0);
        gate.letGo();
    }

    @Test
    void aLoadOutsideTheOrderIsReported() throws Exception {
        GatedLoader<String> gate = occupy(cache, key);
        bench.events.next();
        assertThat(cache.fetch(Workbench.cp().key("view"), () -> cache.fetch(key, () -> "alone")))
                .isEqualTo("alone");
        assertThat(bench.events.next()).containsExactly("miss", "miss", "load NOT_STORED", "load STORED");
        gate.letGo();
    }

    /** The bound of the second key is over when the turn of the first one comes. */
    @Test
    void aCallOfSeveralKeysWaitsNoLongerThanItsBound() throws Exception {
        Duration bound = Duration.ofMillis(500);
        CacheKey<String> hasty = serial(Consistency.AP, bound).key(2);
        List<Duration> waits = new ArrayList<>();
        EasyCacheEngine observed = bench.builder(new JacksonValueCodec())
                .listener(new CacheListener() {
                    @Override
                    public void onTurn(CacheKey<?> of, Turn turn, Duration waited, int queued) {
                        if (turn == Turn.TIMED_OUT) {
                            waits.add(waited);
                        }
                    }
                })
                .buildStopped();
        GatedLoader<String> first = occupy(observed, key);
        GatedLoader<String> second = occupy(observed, other);
        Caller<String> both = Workbench.call(() -> observed.update(List.of(key, hasty), () -> "never"))
                .awaitWaiting();
        long from = System.nanoTime();
        Awaitility.await().until(() -> System.nanoTime() - from > bound.toNanos());
        first.letGo();
        assertThat(both.failure()).isInstanceOf(CacheOrderTimeoutException.class);
        assertThat(waits).hasSize(1);
        assertThat(waits.get(0)).isLessThan(bound);
        second.letGo();
        Awaitility.await().until(() -> observed.busyKeys() == 0);
    }

    @Test
    void readsRunTogetherWhenTheWriteBetweenThemWaitsNoLonger() throws Exception {
        AtomicInteger turns = new AtomicInteger();
        EasyCacheEngine observed = bench.builder(new JacksonValueCodec())
                .listener(new CacheListener() {
                    @Override
                    public void onTurn(CacheKey<?> of, Turn turn, Duration waited, int queued) {
                        if (turn == Turn.OWN) {
                            turns.incrementAndGet();
                        }
                    }
                })
                .buildStopped();
        GatedLoader<String> gate = new GatedLoader<>(() -> "first");
        Caller<String> early = Workbench.call(() -> observed.fetch(key, gate));
        gate.awaitEntered();
        Caller<String> write = Workbench.call(() -> observed.update(List.of(key), () -> "never"))
                .awaitWaiting();
        Caller<String> late =
                Workbench.call(() -> observed.fetch(key, () -> "second")).awaitWaiting();
        assertThat(turns).hasValue(1);
        write.interrupt();
        assertThat(write.failure()).isInstanceOf(CacheOrderTimeoutException.class);
        Awaitility.await().until(() -> turns.get() == 2);
        Caller<String> behind = Workbench.call(() -> observed.update(List.of(key), () -> "behind"))
                .awaitWaiting();
        gate.letGo();
        assertThat(early.result()).isEqualTo("first");
        assertThat(late.result()).isEqualTo("first");
        assertThat(behind.result()).isEqualTo("behind");
    }
}
