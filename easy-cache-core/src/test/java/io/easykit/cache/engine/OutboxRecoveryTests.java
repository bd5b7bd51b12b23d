package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox.Message;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A node on a store in three parts recovers, while its relay runs. The id of a key decides its part. */
class OutboxRecoveryTests {

    private static final int PROBES = CircuitBreakerOptions.defaults().probesToRecover();
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Workbench bench = new Workbench();
    private final InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final EasyCacheEngine node;

    OutboxRecoveryTests() {
        bench.store.inParts(3);
        node = EasyCacheEngine.builder(new JacksonValueCodec())
                .store(CacheSpec.DEFAULT_CLUSTER, bench.store)
                .background(bench.background)
                .degraded(DegradedOptions.defaults())
                .outbox(outbox)
                .ticker(bench.clock)
                .buildStopped();
        worker(0).tick();
        for (int part = 0; part < 3; part++) {
            node.fetch(key(part), () -> "old");
        }
    }

    @AfterEach
    void stop() {
        end.countDown();
        relay().stop();
    }

    @Test
    void partitionsThatWaitForOthersAreServedHoweverLongThoseTake() throws Exception {
        outbox.beforeAll(() -> {
            hang();
            bench.clock.advance(SECOND);
        });
        List.of(0, 1, 2).forEach(this::cutOff);
        List.of(0, 1, 2).forEach(this::updateElsewhere);
        relay().start();
        try (LogCapture log = LogCapture.of(OutboxRecovery.class)) {
            Caller<Boolean> first = recover(0);
            awaitBegun();
            Caller<Boolean> second = recover(1);
            Caller<Boolean> third = recover(2);
            awaitQueued(2);
            end.countDown();
            first.result();
            second.result();
            third.result();
            assertThat(log.warnings()).isEmpty();
        }
        assertThat(states())
                .isEqualTo(Map.of("part 0", State.AVAILABLE, "part 1", State.AVAILABLE, "part 2", State.AVAILABLE));
        assertThat(List.of(0, 1, 2)).allSatisfy(part -> assertThat(node.fetch(key(part), () -> "new"))
                .isEqualTo("new"));
    }

    @Test
    void aRoundOfTheRelayLetsAPartitionInBetween() throws Exception {
        List<Integer> left = new CopyOnWriteArrayList<>();
        outbox.beforeAll(() -> left.add(outbox.waiting()));
        recoverDuringARound();

        assertThat(states()).containsEntry("part 1", State.AVAILABLE);
        assertThat(left.get(0)).as("messages left to the round").isGreaterThanOrEqualTo(800);
    }

    /** A partition recovers while the relay is busy with a long round. */
    private void recoverDuringARound() throws Exception {
        cutOff(1);
        IntStream.range(0, 1000).forEach(i -> put("due" + i, key(3 * i)));
        Held round = bench.store.hold(Operation.DROP);
        relay().start();
        round.awaitReached();
        Caller<Boolean> recovery = recover(1);
        awaitQueued(1);
        round.release();
        recovery.result();
    }

    @Test
    void theLeaseIsFreshAfterAPassInBetween() throws Exception {
        List<Duration> others = new CopyOnWriteArrayList<>();
        AtomicBoolean passed = new AtomicBoolean();
        String lease = "outbox:" + outbox.id();
        outbox.beforeAll(() -> {
            if (passed.compareAndSet(false, true)) {
                bench.clock.advance(OutboxRelay.LEASE);
                bench.store.onNext(
                        Operation.DROP,
                        () -> others.add(bench.store.takeWorkLease(lease, "another", OutboxRelay.LEASE, true)));
            }
        });
        recoverDuringARound();

        await().until(() -> !others.isEmpty());
        assertThat(others.get(0)).as("left of the lease of this node").isEqualTo(OutboxRelay.LEASE);
    }

    @Test
    void aRoundEndsWhenTheRelayIsStopped() throws Exception {
        IntStream.range(0, 1000).forEach(i -> put("due" + i, key(3 * i)));
        Held round = bench.store.hold(Operation.DROP);
        relay().start();
        round.awaitReached();
        Caller<Boolean> stop = TwoNodes.inBackground(relay()::stop);
        await().until(relay()::isStopped);
        round.release();
        stop.result();

        assertThat(outbox.waiting()).isGreaterThanOrEqualTo(800);
    }

    @Test
    void aPartitionThatWaitsWhenTheNodeStopsDoesNotRecover() throws Exception {
        outbox.beforeAll(this::hang);
        List.of(0, 1).forEach(this::cutOff);
        relay().start();
        try (LogCapture log = LogCapture.of(OutboxRecovery.class)) {
            Caller<Boolean> first = recover(0);
            awaitBegun();
            Caller<Boolean> second = recover(1);
            awaitQueued(1);
            Caller<Boolean> stop = TwoNodes.inBackground(relay()::stop);
            second.result();
            first.result();
            end.countDown();
            stop.result();
            assertThat(log.warnings()).isEmpty();
        }
        assertThat(states())
                .isEqualTo(Map.of("part 0", State.UNAVAILABLE, "part 1", State.UNAVAILABLE, "part 2", State.AVAILABLE));
    }

    /** To interrupt the pass inside an embedded database can close that. */
    @Test
    void aPassThatNoPartitionWaitsForEndsWhenTheNodeStops() throws Exception {
        AtomicInteger queries = new AtomicInteger();
        outbox.beforeAll(() -> {
            queries.incrementAndGet();
            hang();
        });
        cutOff(0);
        IntStream.range(0, 300).forEach(i -> put("later" + i, key(i)));
        outbox.postpone(outbox.ids(), Duration.ofMinutes(1));
        relay().start();
        Caller<Boolean> recovery = recover(0);
        awaitBegun();
        bench.clock.advance(OutboxRecovery.STANDSTILL);
        recovery.result();
        assertThat(states()).containsEntry("part 0", State.AVAILABLE);

        Caller<Boolean> stop = TwoNodes.inBackground(relay()::stop);
        await().until(relay()::isStopped);
        end.countDown();
        stop.result();
        assertThat(queries).hasValue(1);
    }

    @Test
    void aPartitionDoesNotWaitLongForARoundOfTheRelay() throws Exception {
        cutOff(1);
        put("due", key(0));
        Held round = bench.store.hold(Operation.DROP);
        relay().start();
        round.awaitReached();
        try (LogCapture log = LogCapture.of(OutboxRecovery.class)) {
            Caller<Boolean> recovery = recover(1);
            awaitQueued(1);
            bench.clock.advance(OutboxRecovery.MAX_WAIT);
            recovery.result();
            assertThat(log.warnings()).singleElement().asString().contains("10000 ms");
        }
        assertThat(states()).containsEntry("part 1", State.AVAILABLE);
        round.release();
    }

    @Test
    void aPartitionDoesNotRecoverIfTheNodeIsJustStopped() {
        assertThatThrownBy(() -> relay().recovery()
                        .deliver(
                                key -> true,
                                pass -> {
                                    throw new RejectedExecutionException("shut down");
                                },
                                () -> false))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessage("The outbox relay was stopped");
    }

    @Test
    void aRoundPostponesTheMessagesOfAPartitionThatIsAwayAlthoughRedisRefusesTheOthers() {
        bench.store.refuse(key(0));
        bench.store.away(1);
        put("refused", key(0));
        put("away", key(1));
        relay().round();
        assertThat(outbox.due(CacheSpec.DEFAULT_CLUSTER, 10)).as("due at once").isEmpty();
    }

    @Test
    void aRoundPostponesNothingIfNoPartitionAnswers() {
        List.of(0, 1).forEach(bench.store::away);
        put("away", key(0));
        put("away as well", key(1));
        relay().round();
        assertThat(outbox.due(CacheSpec.DEFAULT_CLUSTER, 10)).hasSize(2);
    }

    private void hang() {
        begun.countDown();
        try {
            if (!end.await(10, TimeUnit.SECONDS)) {
                throw new AssertionError("The query was not let go");
            }
        } catch (InterruptedException stop) {
            throw new AssertionError("The query was interrupted", stop);
        }
    }

    private void awaitBegun() throws InterruptedException {
        assertThat(begun.await(10, TimeUnit.SECONDS)).as("the outbox was read").isTrue();
    }

    private void awaitQueued(int partitions) {
        await().until(() -> relay().recovery().waiting() == partitions);
    }

    private void cutOff(int part) {
        bench.store.away(part);
        for (int i = 1; i <= 10; i++) {
            node.fetch(key(part + 3 * i), () -> "any");
        }
        assertThat(states()).containsEntry("part " + part, State.UNAVAILABLE);
        bench.store.back(part);
        for (int probe = 1; probe < PROBES; probe++) {
            worker(part).tick();
        }
    }

    /** By a node that is cut off. The relay does not deliver this message soon. */
    private void updateElsewhere(int part) {
        put("update" + part, key(part));
        outbox.postpone(List.of("update" + part), Duration.ofMinutes(1));
    }

    private void put(String id, CacheKey<?> key) {
        outbox.put(new Message(id, CacheSpec.DEFAULT_CLUSTER, List.of(key.name())));
    }

    private Caller<Boolean> recover(int part) {
        return TwoNodes.inBackground(worker(part)::tick);
    }

    private Map<String, State> states() {
        return node.availability(CacheSpec.DEFAULT_CLUSTER).masters();
    }

    private RecoveryWorker worker(int part) {
        return node.cluster(CacheSpec.DEFAULT_CLUSTER).workers().get(part);
    }

    private OutboxRelay relay() {
        return node.cluster(CacheSpec.DEFAULT_CLUSTER).relay();
    }

    private static CacheKey<String> key(int id) {
        return Workbench.ap().key(id);
    }
}
