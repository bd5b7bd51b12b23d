package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.OutboxException;
import io.easykit.cache.time.EngineTime.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Updates in callbacks after a commit end on the thread of the recovery worker, while that has other work. */
class LateEndsTests {

    private static final CacheSpec<String> AP = Workbench.ap();
    private static final int UPDATES = 20;

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final AtomicBoolean interrupted = new AtomicBoolean();
    private final EasyCacheEngine node = bench.builder(new JacksonValueCodec())
            .outbox(outbox)
            .ticker(new OutboxThreads())
            .buildStopped();
    private final CacheCluster cluster = node.cluster(CacheSpec.DEFAULT_CLUSTER);

    LateEndsTests() {
        tick();
    }

    @AfterEach
    void stop() {
        end.countDown();
        node.stop();
    }

    enum Late {
        INVALIDATION {
            @Override
            void update(EasyCacheEngine node, int i) {
                node.invalidate(AP.key(i));
            }
        },
        CLEARING {
            @Override
            void update(EasyCacheEngine node, int i) {
                node.invalidateAll(AP);
            }
        },
        CLEARING_WITH_ENTRIES {
            @Override
            void update(EasyCacheEngine node, int i) {
                node.invalidate(
                        List.of(AP.all(), CacheSpec.of("view", String.class).key(i)));
            }
        };

        abstract void update(EasyCacheEngine node, int i);
    }

    @ParameterizedTest
    @EnumSource(Late.class)
    void theNodeRecoversAlthoughTheDatabaseHangs(Late late) throws Exception {
        startAway();
        updateInCallbacks(late);
        outbox.beforeAdd(this::hang);
        Caller<Boolean> rounds = Workbench.call(() -> {
            bench.clock.advance(Epochs.SEEN_BY_ALL);
            tick();
            bench.store.back();
            for (int i = 0; i < 2 * CircuitBreakerOptions.defaults().probesToRecover(); i++) {
                bench.clock.advance(Duration.ofSeconds(1));
                tick();
            }
            return true;
        });

        rounds.result();
        assertThat(cluster.availability().state()).isEqualTo(State.AVAILABLE);
        assertThat(node.fetch(AP.key(1), () -> "new")).isEqualTo("new");
    }

    @Test
    void allAreWrittenWhenTheDatabaseAnswersAgain() throws Exception {
        startAway();
        updateInCallbacks(Late.INVALIDATION);
        int before = outbox.size();
        outbox.beforeAdd(this::hang);
        tick();
        awaitBegun();

        end.countDown();

        await().until(() -> outbox.size() == before + UPDATES);
    }

    @Test
    void theStopInterruptsNoWriteAndDoesTheOthers() throws Exception {
        startAway();
        updateInCallbacks(Late.INVALIDATION);
        int before = outbox.size();
        outbox.beforeAdd(this::hang);
        tick();
        awaitBegun();

        Caller<Boolean> stop = TwoNodes.inBackground(node::stop);
        await().until(cluster.relay()::isStopped);
        end.countDown();
        stop.result();

        assertThat(interrupted).isFalse();
        assertThat(outbox.size()).isEqualTo(before + UPDATES);
    }

    @Test
    void tooManyWritesAreRefused() throws Exception {
        OutboxWriteQueue writes = new OutboxWriteQueue("default", bench.clock);
        writes.start();
        writes.submit(this::hang);
        awaitBegun();
        AtomicInteger done = new AtomicInteger();
        IntStream.range(0, OutboxWriteQueue.MOST).forEach(i -> writes.submit(done::incrementAndGet));
        assertThatThrownBy(() -> writes.submit(done::incrementAndGet))
                .isInstanceOf(OutboxException.class)
                .hasMessage("10000 writes wait for the database");

        end.countDown();
        await().until(() -> done.get() == OutboxWriteQueue.MOST);
        writes.stop();
    }

    @Test
    void oneTaskIsPlannedForAllWritesThatWait() {
        List<Runnable> tasks = new ArrayList<>();
        OutboxWriteQueue writes = new OutboxWriteQueue("default", new RoundsByHand(bench.clock) {
            @Override
            public Scheduler newScheduler(String threadName) {
                return new Idle() {
                    @Override
                    public void execute(Runnable task) {
                        tasks.add(task);
                    }
                };
            }
        });
        AtomicInteger done = new AtomicInteger();
        writes.start();
        IntStream.range(0, 3).forEach(i -> writes.submit(done::incrementAndGet));
        assertThat(tasks).hasSize(1);

        tasks.remove(0).run();
        assertThat(done).hasValue(3);

        writes.submit(done::incrementAndGet);
        assertThat(tasks).hasSize(1);
    }

    @Test
    void aDefectHoldsUpNoOtherWrite() {
        OutboxWriteQueue writes = new OutboxWriteQueue("default", bench.clock);
        AtomicBoolean done = new AtomicBoolean();
        try (LogCapture log = LogCapture.of(OutboxWriteQueue.class)) {
            writes.start();
            writes.submit(() -> {
                throw new IllegalStateException("a defect");
            });
            writes.submit(() -> done.set(true));
            await().untilTrue(done);
            assertThat(log.errors()).singleElement().asString().contains("This is a defect");
        }
        writes.stop();
    }

    @Test
    void theStopReportsWritesThatASlowDatabaseKeepsBack() throws Exception {
        OutboxWriteQueue writes = new OutboxWriteQueue("default", bench.clock);
        writes.start();
        writes.submit(this::hang);
        awaitBegun();
        writes.submit(() -> {});
        writes.submit(() -> {});
        try (LogCapture log = LogCapture.of(OutboxWriteQueue.class)) {
            writes.stop();
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("Writes to the outbox for Redis 'default'")
                    .contains("cache was stopped: 2.");
        }
        await().untilTrue(interrupted);
    }

    /** The outbox has their first ends only, which came before the commits. */
    @Test
    void theInvalidationsOfWritesThatWereNotMadeAreLost() throws Exception {
        startAway();
        updateInCallbacks(Late.INVALIDATION);
        node.invalidate(AP.key(UPDATES));
        outbox.beforeAdd(this::hang);
        tick();
        awaitBegun();
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            node.stop();
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith(UPDATES + " invalidations")
                    .contains("name::0");
            assertThat(log.infos())
                    .singleElement()
                    .asString()
                    .startsWith("1 invalidations")
                    .contains("[name::" + UPDATES + "]");
        }
    }

    /** So many that the cache stands for its keys. Redis has taken all of them since. */
    @Test
    void aStopDoesNotNameWhatTheOutboxLackedInAnEarlierOutage() {
        startAway();
        outbox.broken(true);
        IntStream.rangeClosed(0, OutboxWriteQueue.MOST).forEach(i -> node.invalidate(AP.key(i)));
        outbox.broken(false);
        bench.store.back();
        for (int i = 0; i < 2 * CircuitBreakerOptions.defaults().probesToRecover(); i++) {
            bench.clock.advance(Duration.ofSeconds(1));
            tick();
        }
        assertThat(node.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();

        bench.store.away();
        node.invalidate(AP.key(1));
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            node.stop();
            assertThat(log.warnings()).isEmpty();
            assertThat(log.infos())
                    .singleElement()
                    .asString()
                    .contains("[" + AP.key(1).name() + "]");
        }
    }

    /** Its message is delivered when its lease is over. */
    @Test
    void aMessageThatIsNotClosedIsNoLoss() {
        bench.store.away();
        bench.transactions.keepConnection();
        outbox.notJoinable();
        node.update(List.of(AP.key(1)), () -> null);
        node.start();
        node.stop();
        bench.transactions.giveBackConnection();
        try (LogCapture log = LogCapture.of(OutboxWriter.class)) {
            tick();
            assertThat(log.warnings()).isEmpty();
        }
        assertThat(outbox.waiting()).isPositive();
    }

    @Test
    void theThreadOfTheStopWritesNothing() throws Exception {
        OutboxWriteQueue writes = new OutboxWriteQueue("default", bench.clock);
        writes.start();
        writes.submit(this::hang);
        awaitBegun();
        Set<Thread> writers = ConcurrentHashMap.newKeySet();
        writes.submit(() -> writers.add(Thread.currentThread()));
        Caller<Thread> stop = Workbench.call(() -> {
            writes.stop();
            return Thread.currentThread();
        });
        stop.awaitWaiting();
        end.countDown();
        Thread stopping = stop.result();

        assertThat(writers).isNotEmpty().doesNotContain(stopping);
    }

    @Test
    void theNextWriteStartsAThreadThatCouldNotBeStarted() {
        AtomicBoolean scarce = new AtomicBoolean(true);
        OutboxWriteQueue writes = new OutboxWriteQueue("default", scarce(scarce));
        AtomicInteger done = new AtomicInteger();
        writes.start();
        writes.submit(done::incrementAndGet);
        scarce.set(false);
        writes.submit(done::incrementAndGet);

        await().until(() -> done.get() == 2);
        writes.stop();
    }

    @Test
    void theStopReportsWritesForWhichThereIsNoThread() {
        OutboxWriteQueue writes = new OutboxWriteQueue("default", scarce(new AtomicBoolean(true)));
        writes.start();
        writes.submit(() -> {});
        try (LogCapture log = LogCapture.of(OutboxWriteQueue.class)) {
            writes.stop();
            assertThat(log.warnings()).singleElement().asString().contains("cache was stopped: 1.");
        }
    }

    /** @param scarce whether the system makes no more threads */
    private Ticker scarce(AtomicBoolean scarce) {
        return new OutboxThreads() {
            @Override
            public Scheduler newScheduler(String threadName) {
                Scheduler threads = super.newScheduler(threadName);
                return new RoundsByHand.Idle() {
                    @Override
                    public void execute(Runnable task) {
                        if (scarce.get()) {
                            throw new OutOfMemoryError("unable to create native thread");
                        }
                        threads.execute(task);
                    }
                };
            }
        };
    }

    @Test
    void noWriteBeginsWhenTheTimeOfTheStopIsOver() throws Exception {
        OutboxWriteQueue writes = new OutboxWriteQueue("default", bench.clock);
        writes.start();
        writes.submit(this::hang);
        awaitBegun();
        AtomicBoolean done = new AtomicBoolean();
        writes.submit(() -> done.set(true));
        Caller<Boolean> stop = TwoNodes.inBackground(writes::stop).awaitWaiting();
        bench.clock.advance(Duration.ofSeconds(2));
        try (LogCapture log = LogCapture.of(OutboxWriteQueue.class)) {
            end.countDown();
            stop.result();
            assertThat(log.warnings()).singleElement().asString().contains("cache was stopped: 1.");
        }
        assertThat(done).isFalse();
        assertThat(interrupted).isFalse();
    }

    /** A worker that was stopped may still end an update. */
    @Test
    void aWriteAfterTheStopIsRefusedUntilTheNextStart() {
        OutboxWriteQueue writes = new OutboxWriteQueue("default", bench.clock);
        writes.start();
        writes.stop();
        AtomicBoolean done = new AtomicBoolean();
        assertThatThrownBy(() -> writes.submit(() -> done.set(true)))
                .isInstanceOf(OutboxException.class)
                .hasMessage("the cache was stopped");

        writes.start();
        writes.submit(() -> done.set(true));
        await().untilTrue(done);
        writes.stop();
    }

    @Test
    void theUpdatesWaitForTheNextWorkerIfThisOneIsStopped() {
        updateInCallbacks(Late.CLEARING);
        int before = bench.store.count(Operation.RAISE_EPOCH);
        bench.store.onNext(Operation.EPOCHS, () -> Thread.currentThread().interrupt());
        try {
            tick();
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(before);

        tick();
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isGreaterThan(before);
    }

    @Test
    void theEpochsAreReadBeforeTheUpdatesEnd() {
        updateInCallbacks(Late.INVALIDATION);
        int before = bench.store.count(Operation.INVALIDATE);
        AtomicInteger ended = new AtomicInteger(-1);
        bench.store.onNext(Operation.EPOCHS, () -> ended.set(bench.store.count(Operation.INVALIDATE) - before));
        tick();

        assertThat(ended).hasValue(0);
        assertThat(bench.store.count(Operation.INVALIDATE) - before).isEqualTo(UPDATES);
    }

    /** An entry may be computed from an older one of the cleared cache until all nodes have read the raised epochs. */
    @Test
    void anUpdateWhoseFirstEndIsDeliveredLateEndsAgainWhenAllNodesHaveReadThat() {
        CacheKey<String> view = CacheSpec.of("view", String.class).key(1);
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        node.update(List.of(AP.all(), view), () -> "done");
        bench.clock.advance(Duration.ofSeconds(1));
        int before = bench.store.count(Operation.RAISE_EPOCH);
        tick();
        assertThat(bench.store.count(Operation.RAISE_EPOCH) - before)
                .as("raised now")
                .isEqualTo(1);

        bench.clock.advance(Epochs.SEEN_BY_ALL.minusMillis(1));
        tick();
        assertThat(bench.store.parts(view)).contains("intents");

        bench.clock.advance(Duration.ofSeconds(1));
        tick();
        assertThat(bench.store.parts(view)).doesNotContain("intents");
    }

    private void startAway() {
        node.start();
        bench.store.away();
        for (int i = 0; i < 10; i++) {
            node.fetch(CacheSpec.of("any", String.class).key(i), () -> "any");
        }
        assertThat(cluster.availability().state()).isEqualTo(State.UNAVAILABLE);
    }

    private void updateInCallbacks(Late late) {
        bench.transactions.keepConnection();
        IntStream.range(0, UPDATES).forEach(i -> late.update(node, i));
        bench.transactions.giveBackConnection();
    }

    private void tick() {
        cluster.workers().forEach(RecoveryWorker::tick);
    }

    private void hang() {
        begun.countDown();
        try {
            if (!end.await(20, TimeUnit.SECONDS)) {
                throw new AssertionError("The database was not let go");
            }
        } catch (InterruptedException stop) {
            interrupted.set(true);
            throw new AssertionError("The write was interrupted", stop);
        }
    }

    /** Threads for the outbox. The rounds of the workers are those of the test. */
    private class OutboxThreads extends RoundsByHand {

        OutboxThreads() {
            super(bench.clock);
        }

        @Override
        public Scheduler newScheduler(String threadName) {
            return threadName.startsWith("easy-cache-outbox")
                    ? bench.clock.newScheduler(threadName)
                    : super.newScheduler(threadName);
        }
    }

    private void awaitBegun() throws InterruptedException {
        assertThat(begun.await(10, TimeUnit.SECONDS)).as("a write has begun").isTrue();
    }
}
