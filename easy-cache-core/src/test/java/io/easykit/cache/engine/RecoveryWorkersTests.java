package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.InMemoryOutbox;
import io.easykit.cache.store.Outbox;
import io.easykit.cache.time.EngineTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads of the workers that a test starts and runs. */
class RecoveryWorkersTests {

    private final Workbench bench = new Workbench();
    private final List<Rounds> threads = new ArrayList<>();
    private int missingAfter = Integer.MAX_VALUE;
    private boolean scarce;
    private final EasyCacheEngine node =
            bench.builder(new JacksonValueCodec()).ticker(new RoundsOnDemand()).build();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void threadsThatAreMissingWhenPartitionsChangeAreStartedAtALaterRound(int available) {
        bench.store.repartition(3);
        missingAfter = 1 + available;
        round();
        assertThat(running()).as("workers that try again").isNotEmpty();
        round();

        missingAfter = Integer.MAX_VALUE;
        round();

        assertThat(running())
                .containsExactly(
                        "easy-cache-recovery-default-0",
                        "easy-cache-recovery-default-1",
                        "easy-cache-recovery-default-2");
        recoversWhatWasLost();
    }

    @Test
    void theWorkersOfEarlierPartitionsStopWhenAllOthersRun() {
        bench.store.repartition(3);
        round();
        bench.store.repartition(2);
        round();

        assertThat(running()).containsExactly("easy-cache-recovery-default-0", "easy-cache-recovery-default-1");
    }

    @Test
    void allStopWithTheCacheAlsoWhileThreadsAreMissing() {
        bench.store.repartition(3);
        missingAfter = 2;
        round();

        node.stop();

        assertThat(running()).isEmpty();
    }

    /** A listener may wait for another thread, which stops the cache. */
    @Test
    void theListenerOfNewMastersIsCalledWithoutALock() {
        AtomicReference<EasyCacheEngine> stopped = new AtomicReference<>();
        AtomicInteger told = new AtomicInteger();
        CacheListener listener = new CacheListener() {
            @Override
            public void onMasters(String clusterId, Set<String> masters) {
                Caller<Boolean> stop = TwoNodes.inBackground(() -> stopped.get().stop());
                await().until(stop::isDone);
                told.incrementAndGet();
            }
        };
        stopped.set(bench.builder(new JacksonValueCodec())
                .listener(listener)
                .ticker(new RoundsOnDemand())
                .build());
        bench.store.repartition(3);
        round();

        assertThat(told).hasValue(1);
    }

    /** Both use the same collections. */
    @Test
    void aRoundOfTheOutboxEndsBeforeThoseAfterARestart() throws Exception {
        InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
        EasyCacheEngine reader = bench.builder(new JacksonValueCodec())
                .outbox(outbox)
                .ticker(new RoundsOnDemand())
                .build();
        OutboxRelay relay = reader.cluster("default").relay();
        for (int i = 0; i < 3 * OutboxDelivery.MESSAGES; i++) {
            outbox.put(new Outbox.Message("" + i, "default", List.of("name::1")));
        }
        Held held = bench.store.hold(Operation.DROP);
        Caller<Boolean> before = TwoNodes.inBackground(relay::round);
        held.awaitReached();
        relay.stop();
        relay.start();
        Held next = bench.store.hold(Operation.DROP);
        Caller<Boolean> after = TwoNodes.inBackground(relay::round).awaitWaiting();
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(1);

        held.release();
        assertThat(before.result()).as("ends after one batch").isTrue();
        next.awaitReached();
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(2);
        next.release();
        assertThat(after.result()).isTrue();
        assertThat(outbox.waiting()).isZero();
        reader.stop();
    }

    /** @param heldByAnother whether another node has the lease, which ends before the next interval */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theReaderOfTheOutboxGoesOnAfterARoundThatCouldNotPlanTheNext(boolean heldByAnother) {
        InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
        if (heldByAnother) {
            EasyCacheEngine other = bench.builder(new JacksonValueCodec())
                    .outbox(outbox)
                    .ticker(new RoundsByHand(bench.clock))
                    .build();
            Duration unused = other.cluster("default").relay().round();
            bench.clock.advance(OutboxRelay.LEASE.minusMillis(200));
        }
        EasyCacheEngine reader = bench.builder(new JacksonValueCodec())
                .outbox(outbox)
                .ticker(new RoundsOnDemand())
                .build();
        scarce = true;
        round();
        scarce = false;
        outbox.put(new Outbox.Message("1", "default", List.of("name::1")));
        bench.clock.advance(OutboxRelay.INTERVAL);

        round();

        assertThat(outbox.waiting()).isZero();
        reader.stop();
    }

    @Test
    void theReaderOfTheOutboxTriesAgainWhenTheLeaseOfAnotherNodeEnds() {
        InMemoryOutbox outbox = new InMemoryOutbox(bench.clock::millis);
        EasyCacheEngine other = bench.builder(new JacksonValueCodec())
                .outbox(outbox)
                .ticker(new RoundsByHand(bench.clock))
                .build();
        Duration unused = other.cluster("default").relay().round();
        bench.clock.advance(OutboxRelay.LEASE.minusMillis(200));
        EasyCacheEngine reader = bench.builder(new JacksonValueCodec())
                .outbox(outbox)
                .ticker(new RoundsOnDemand())
                .build();

        round();

        assertThat(threads.stream()
                        .filter(thread -> thread.name.startsWith("easy-cache-outbox-default"))
                        .flatMap(thread -> thread.delays.stream()))
                .containsExactly(Duration.ofMillis(200));
        reader.stop();
    }

    @Test
    void aDeliveryThatCouldNotBePlannedIsPlannedTheNextTime() {
        RecoveryWorker worker = node.cluster("default").workers().get(0);
        scarce = true;
        assertThatThrownBy(worker::submitDelivery).isInstanceOf(OutOfMemoryError.class);
        scarce = false;

        worker.submitDelivery();

        assertThat(threads.get(0).once).hasSize(1);
    }

    @Test
    void aNewConnectionCountsForAllPartitionsAlsoIfTheFirstFindsNoMemoryForItsTask() {
        bench.store.repartition(3);
        round();
        List<Integer> before = connections();
        scarce = true;
        assertThatThrownBy(bench.store::reconnect).isInstanceOf(OutOfMemoryError.class);
        scarce = false;

        assertThat(connections())
                .containsExactlyElementsOf(
                        before.stream().map(count -> count + 1).toList());
    }

    private List<Integer> connections() {
        return node.cluster("default").workers().stream()
                .map(worker -> worker.breaker().repetition().connections())
                .toList();
    }

    /** Until then a node that has just started takes what should have been dropped. */
    @Test
    void whatAServerWithOlderDataHasLostIsDroppedBeforeTheNextRound() {
        CacheKey<String> key = Workbench.ap().key(1);
        node.fetch(key, () -> "old");
        seconds(3);
        Runnable restart = bench.store.snapshot();
        node.invalidate(key);
        seconds(60);
        restart.run();
        bench.store.reconnect();

        threads.get(0).runOnce();

        assertThat(bench.node().fetch(key, () -> "new")).isEqualTo("new");
    }

    private void seconds(int count) {
        for (int i = 0; i < count; i++) {
            bench.clock.advance(Duration.ofSeconds(1));
            round();
        }
    }

    private void recoversWhatWasLost() {
        CacheKey<String> key = Workbench.ap().key(1);
        node.fetch(key, () -> "old");
        bench.store.away();
        node.invalidate(key);
        assertThat(node.undelivered("default")).isEqualTo(1);

        bench.store.back();
        for (int i = 0; i <= CircuitBreakerOptions.defaults().probesToRecover(); i++) {
            round();
        }

        assertThat(node.undelivered("default")).isZero();
        assertThat(node.fetch(key, () -> "new")).isEqualTo("new");
    }

    private List<String> running() {
        return threads.stream()
                .filter(thread -> !thread.stopped)
                .map(thread -> thread.name)
                .toList();
    }

    private void round() {
        List.copyOf(threads).stream().filter(thread -> !thread.stopped).forEach(Rounds::run);
    }

    private final class RoundsOnDemand implements Ticker {

        @Override
        public long nanoTime() {
            return bench.clock.nanoTime();
        }

        @Override
        public void pause(long nanos) throws InterruptedException {
            bench.clock.pause(nanos);
        }

        @Override
        public Scheduler newScheduler(String threadName) {
            if (threads.size() == missingAfter) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Rounds thread = new Rounds(threadName, () -> scarce);
            threads.add(thread);
            return thread;
        }
    }

    private static final class Rounds implements EngineTime.Scheduler {

        private final String name;
        private final List<Runnable> repeated = new ArrayList<>();
        private final List<Runnable> once = new ArrayList<>();
        private final List<Duration> delays = new ArrayList<>();
        private final BooleanSupplier scarce;
        private boolean stopped;

        Rounds(String name, BooleanSupplier scarce) {
            this.name = name;
            this.scarce = scarce;
        }

        void run() {
            runOnce();
            repeated.forEach(Rounds::runTask);
        }

        void runOnce() {
            List<Runnable> due = List.copyOf(once);
            once.clear();
            due.forEach(Rounds::runTask);
        }

        /** A pool keeps the failure of a task to itself. */
        private static void runTask(Runnable task) {
            try {
                task.run();
            } catch (OutOfMemoryError failed) {
                assertThat(failed).hasMessage("Java heap space");
            }
        }

        @Override
        public void execute(Runnable task) {
            once.add(task);
        }

        @Override
        public void schedule(Runnable task, long delayNanos) {
            if (scarce.getAsBoolean()) {
                throw new OutOfMemoryError("Java heap space");
            }
            delays.add(Duration.ofNanos(delayNanos));
            once.add(task);
        }

        @Override
        public void repeat(Runnable task, long delayNanos) {
            repeated.add(task);
        }

        @Override
        public void stop() {
            stopped = true;
        }

        @Override
        public void stopNow() {
            stopped = true;
        }

        @Override
        public boolean awaitStop(long nanos) {
            return true;
        }
    }
}
