package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.Consistency;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Updates while and after a cache stops. */
class StoppedClusterTests extends TwoNodes {

    @Test
    void deliversAtOnceWhatIsUpdatedAfterTheStop() {
        EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
        stopped.stop();
        CacheKey<String> cp = Workbench.cp().key(1);
        b.fetch(cp, () -> "old");
        for (Operation lost : List.of(Operation.PREPARE, Operation.INVALIDATE)) {
            bench.store.failNext(lost, Fault.LOST_REQUEST);
            stopped.update(List.of(cp), () -> null);
            assertThat(stopped.undelivered("default")).isZero();
            assertThat(bench.store.parts(cp)).isEmpty();
        }
    }

    @Test
    void spendsABoundedTimeOnUpdatesAfterTheStopAndSaysOnceWhatIsLost() {
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
            stopped.stop();
            bench.store.away();
            long startedAt = bench.clock.nanoTime();
            for (int id = 0; id < 50; id++) {
                stopped.invalidate(Workbench.ap().key(id));
            }
            assertThat(Duration.ofNanos(bench.clock.nanoTime() - startedAt))
                    .isBetween(Duration.ofSeconds(2), Duration.ofMillis(2100));
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("name::0")
                    .contains("1 invalidations")
                    .contains("20");
        }
    }

    @Test
    void deliversWhatIsLeftWhenItIsStopped() {
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 1000, Duration.ofSeconds(1), 1000))
                .build();
        await().until(() -> bench.store.count(Operation.EPOCHS) > 0);
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        bench.store.fail(Operation.DROP, Fault.LOST_REQUEST);
        running.invalidate(key);
        bench.store.back();
        running.stop();
        assertThat(running.undelivered("default")).isZero();
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void clearsAtOnceWhatIsClearedAfterTheStop(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        b.fetch(spec.key(1), () -> "old");
        EasyCacheEngine stopped = stopped();
        for (Operation lost : List.of(Operation.PREPARE_CLEAR, Operation.RAISE_EPOCH)) {
            bench.store.failNext(lost, Fault.LOST_REQUEST);
        }

        stopped.invalidateAll(spec);

        assertThat(stopped.undelivered("default")).isZero();
        tick(b, 1);
        assertThat(b.fetch(spec.key(1), () -> "new")).isEqualTo("new");
    }

    /** Without it a value that is loaded before the commit stays until its TTL: no worker ends late commits any more. */
    @Test
    void leavesAMarkForWorkThatIsCommittedAfterTheStop() {
        EasyCacheEngine stopped = stopped();
        for (CacheKey<String> one : List.of(key, Workbench.ap().all())) {
            bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
            bench.store.failNext(Operation.PREPARE_CLEAR, Fault.LOST_REQUEST);
            bench.transactions.keepConnection();
            stopped.invalidate(one);
            bench.transactions.giveBackConnection();
        }
        assertThat(bench.store.parts(key)).contains("intents");
        assertThat(bench.store.clearing()).containsExactly("name");
    }

    @Test
    void saysHowManyUpdatesHaveNotEndedAtTheStop() {
        EasyCacheEngine running = running();
        try (LogCapture log = LogCapture.of(LateCommits.class)) {
            bench.transactions.keepConnection();
            running.invalidate(key);
            running.invalidate(Workbench.ap().key(2));
            running.stop();
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("Updates that had not ended in Redis 'default' when the cache was stopped: 2.")
                    .contains("update-lease");
        } finally {
            bench.transactions.giveBackConnection();
        }
        assertThat(bench.store.parts(key)).contains("intents");
    }

    @Test
    void saysNothingOfUpdatesThatHaveEnded() {
        EasyCacheEngine running = running();
        try (LogCapture log = LogCapture.of(LateCommits.class)) {
            bench.transactions.begin();
            running.invalidateInTransaction(List.of(key));
            bench.transactions.rollback();
            running.invalidate(key);
            running.stop();
            assertThat(log.warnings()).isEmpty();
        }
    }

    /** Their connection was given back after the last round. */
    @Test
    void endsUpdatesWhoseTransactionsHaveEnded() {
        EasyCacheEngine running = running();
        try (LogCapture log = LogCapture.of(LateCommits.class)) {
            bench.transactions.keepConnection();
            running.invalidate(key);
            bench.transactions.giveBackConnection();
            running.stop();
            assertThat(log.warnings()).isEmpty();
        }
        assertThat(bench.store.parts(key)).doesNotContain("intents");
    }

    /** After an outage there may be thousands of them. The pending invalidations come after them. */
    @Test
    void beginsSecondEndsForASecondOnly() {
        EasyCacheEngine running = running();
        Thread stopping = Thread.currentThread();
        AtomicInteger ends = new AtomicInteger();
        LateCommits.SecondTime open = () -> Thread.currentThread() != stopping;
        for (int i = 0; i < 5; i++) {
            cluster(running).whenClosed(open, () -> {
                ends.incrementAndGet();
                bench.clock.advance(Duration.ofMillis(600));
            });
        }
        try (LogCapture log = LogCapture.of(LateCommits.class)) {
            running.stop();
            assertThat(log.warnings()).isEmpty();
        }
        assertThat(ends).hasValue(2);
    }

    /** A defect, which no round of a worker has met before. */
    @Test
    void reportsTheOthersAlthoughAnEndFails() {
        EasyCacheEngine running = running();
        CacheCluster cluster = running.cluster(CacheSpec.DEFAULT_CLUSTER);
        Thread stopping = Thread.currentThread();
        try (LogCapture log = LogCapture.of(LateCommits.class)) {
            cluster.whenClosed(() -> true, () -> {});
            cluster.whenClosed(() -> Thread.currentThread() != stopping, () -> {
                throw new IllegalStateException("a defect");
            });
            assertThatThrownBy(running::stop).hasMessage("a defect");
            assertThat(log.warnings()).singleElement().asString().contains("when the cache was stopped: 1.");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {CacheSpec.DEFAULT_CLUSTER, "other"})
    void stopsTheOtherRedisAlthoughAnEndFails(String failing) {
        FaultyCacheStore other = new FaultyCacheStore(bench.clock::millis);
        EasyCacheEngine running =
                bench.builder(new JacksonValueCodec()).store("other", other).build();
        Thread stopping = Thread.currentThread();
        running.cluster(failing).whenClosed(() -> Thread.currentThread() != stopping, () -> {
            throw new IllegalStateException("a defect");
        });
        // The workers deliver nothing then.
        running.clusterIds().forEach(id -> running.cluster(id).availability().force(State.UNAVAILABLE));
        running.invalidate(List.of(key, key.spec().withClusterId("other").key(1)));
        assertThat(running.clusterIds()).allMatch(id -> running.undelivered(id) > 0);

        assertThatThrownBy(running::stop).hasMessage("a defect");

        assertThat(running.clusterIds()).allMatch(id -> running.undelivered(id) == 0);
    }

    /** It waits to end a second time, when all nodes have read the epochs. */
    @Test
    void saysNothingOfAClearingThatHasEnded() {
        EasyCacheEngine running = running();
        try (LogCapture log = LogCapture.of(LateCommits.class)) {
            running.update(List.of(key, Workbench.ap().all()), () -> null);
            running.stop();
            assertThat(log.warnings()).isEmpty();
        }
    }

    @Test
    void clearsWhatAnOperatorDropsAfterTheStop() {
        b.fetch(key, () -> "old");
        EasyCacheEngine stopped = stopped();
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);

        cluster(stopped).drop(key.spec().all());

        assertThat(stopped.undelivered("default")).isZero();
        tick(b, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void clearsWhatIsLeftWhenItIsStopped() {
        b.fetch(key, () -> "old");
        EasyCacheEngine running = running();
        bench.store.fail(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        running.invalidateAll(Workbench.ap());
        bench.store.back();

        running.stop();

        assertThat(running.undelivered("default")).isZero();
        tick(b, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void dropsThePrefixIfMoreKeysWereLeftThanCouldBeKept() {
        b.fetch(key, () -> "old");
        overflow();
        a.start();
        bench.store.back();

        a.stop();

        assertThat(a.undelivered("default")).isZero();
        tick(b, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void namesTheClearingsThatAreLost() {
        bench.store.inParts(3);
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            EasyCacheEngine stopped = stopped();
            bench.store.away();
            stopped.invalidateAll(Workbench.ap());
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .startsWith("1 invalidations")
                    .contains("[all of 'name']");
        }
    }

    @Test
    void clearsTheOtherHashesIfOneIsAwayAtTheStop() {
        bench.store.inParts(3);
        EasyCacheEngine stopped = stopped();
        EasyCacheEngine other = bench.node();
        tickAll(other);
        CacheSpec<String> spec = Workbench.ap();
        for (int id = 0; id < 3; id++) {
            other.fetch(spec.key(id), () -> "old");
        }
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        bench.store.away(1);

        stopped.invalidateAll(spec);

        bench.store.back(1);
        tickAll(other);
        assertThat(other.fetch(spec.key(0), () -> "new")).isEqualTo("new");
        assertThat(other.fetch(spec.key(2), () -> "new")).isEqualTo("new");
        assertThat(stopped.undelivered("default")).isEqualTo(1);
    }

    @Test
    void deliversTheKeysAndReportsTheClearingAlthoughItFails() {
        bench.store.inParts(3);
        EasyCacheEngine running = running();
        // Its workers deliver nothing then.
        availability(running).force(State.UNAVAILABLE);
        running.invalidateAll(key.spec());
        running.invalidate(CacheSpec.of("other", String.class).key(1));
        assertThat(running.undelivered("default")).isEqualTo(2);
        bench.store.afterNext(Operation.RAISE_EPOCH, StoppedClusterTests::fail);

        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            assertThatThrownBy(running::stop).hasMessage("a defect");
            assertThat(log.warnings()).singleElement().asString().contains("[all of 'name']");
        }

        assertThat(running.undelivered("default")).isOne();
    }

    /** An update after the stop. */
    @Test
    void reportsAnUpdateAfterTheStopAlthoughItFails() {
        EasyCacheEngine stopped = stopped();
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        bench.store.onLost(() -> bench.store.onNext(Operation.RAISE_EPOCH, StoppedClusterTests::fail));

        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            assertThatThrownBy(() -> stopped.invalidateAll(key.spec())).hasMessage("a defect");
            assertThat(log.warnings()).singleElement().asString().contains("[all of 'name']");
        }
    }

    private static void fail() {
        throw new IllegalStateException("a defect");
    }

    /** The node itself does not raise them any more when all nodes have read the first ones. */
    @Test
    void leavesTheSecondRaiseOfSeveralHashesToOtherNodes() {
        bench.store.inParts(3);
        EasyCacheEngine other = bench.node();
        tickAll(other);
        EasyCacheEngine running = running();
        assertThat(cluster(running).drop(key.spec().all())).isTrue();

        running.stop();
        assertThat(bench.store.clearing()).containsExactly("name");
        long raised = raisedBy(other);
        bench.clock.advance(SEEN_EVERYWHERE);

        assertThat(raisedBy(other)).isGreaterThan(raised);
        assertThat(bench.store.clearing()).isEmpty();
    }

    /** Its preparation waits for each hash of the silent master. */
    @Test
    void clearsTheOtherMastersIfOneIsSilent() {
        bench.store.inParts(12).repartition(3);
        EasyCacheEngine stopped = stopped();
        availability(stopped).force(State.UNAVAILABLE);
        bench.store.onLost(() -> bench.clock.advance(Duration.ofMillis(600)));
        bench.store.away(0);
        int before = bench.store.count(Operation.RAISE_EPOCH);
        bench.transactions.keepConnection();

        stopped.invalidateAll(Workbench.ap());

        bench.transactions.giveBackConnection();
        assertThat(bench.store.count(Operation.RAISE_EPOCH) - before).isGreaterThanOrEqualTo(12);
    }

    /** A full Redis refuses marks, and accepts invalidations. */
    @Test
    void deliversAfterManyMarksThatAreRefused() {
        EasyCacheEngine stopped = stopped();
        bench.store.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        bench.store.onLost(() -> bench.clock.advance(Duration.ofMillis(10)));
        bench.transactions.keepConnection();
        for (int i = 0; i < 300; i++) {
            stopped.invalidate(key);
        }
        bench.transactions.giveBackConnection();
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);

        stopped.invalidate(key);

        assertThat(stopped.undelivered("default")).isZero();
    }

    private long raisedBy(EasyCacheEngine node) {
        tickAll(node);
        return bench.store.raised().getOrDefault("name", 0L);
    }

    private static void tickAll(EasyCacheEngine node) {
        cluster(node).workers().forEach(RecoveryWorker::tick);
    }

    private EasyCacheEngine stopped() {
        EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
        stopped.stop();
        return stopped;
    }

    /** Its worker has had its first round, and has the next one after a long time. */
    private EasyCacheEngine running() {
        int before = bench.store.count(Operation.EPOCHS);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 1000, Duration.ofSeconds(1), 1000))
                .build();
        await().until(() -> bench.store.count(Operation.EPOCHS) > before);
        return running;
    }

    @Test
    void worksOnAThreadThatMayBeStoppedAndStarted() {
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 10, Duration.ofMillis(5), 2))
                .build();
        for (int i = 0; i < 3; i++) {
            int before = bench.store.count(Operation.EPOCHS);
            await().until(() -> bench.store.count(Operation.EPOCHS) > before + 2);
            running.stop();
            running.start();
            running.start();
        }
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        running.invalidate(key);
        await().until(() -> running.undelivered("default") == 0);
        bench.store.away();
        await().until(() -> stateOf(running) == State.UNAVAILABLE);
        bench.store.back();
        await().until(() -> stateOf(running) == State.AVAILABLE);
        running.stop();
    }

    /** Of several rollbacks within a second the last ones are held back, and after a stop no worker would send them. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void deliversRollbacksThatAreHeldBack(boolean afterTheStop) {
        EasyCacheEngine node = bench.builder(new JacksonValueCodec()).build();
        if (afterTheStop) {
            node.stop();
        }
        CacheKey<String> cp = Workbench.cp().key(1);
        cluster(node).invalidateRolledBack(List.of(cp));
        b.fetch(cp, () -> "old");

        cluster(node).invalidateRolledBack(List.of(cp));
        if (!afterTheStop) {
            node.stop();
        }

        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void deliversARollbackAfterTheStopOfWhichTheRequestIsLost() {
        EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
        stopped.stop();
        CacheKey<String> cp = Workbench.cp().key(1);
        b.fetch(cp, () -> "old");
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);

        cluster(stopped).invalidateRolledBack(List.of(cp));

        assertThat(bench.store.parts(cp)).isEmpty();
        assertThat(stopped.undelivered("default")).isZero();
    }
}
