package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.StoreUnavailableException;
import io.easykit.cache.time.EngineTime.Scheduler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The recovery of a node that was cut off, and what marks it unavailable. */
class RecoveryWorkerTests extends TwoNodes {

    @Test
    void marksUnavailableWhatFailsTooOftenAndThenNoCallReachesIt() {
        cutOff();
        int before = bench.store.count();
        a.fetch(key, () -> "value");
        a.fetch(Workbench.cp().key(1), () -> "value");
        a.update(List.of(key, Workbench.cp().key(1)), () -> null);
        a.invalidate(key);
        assertThat(bench.store.count()).isEqualTo(before);
    }

    @Test
    void reportsACheckThatFailsOnlyIfTheNextOneFailsAsWell() {
        bench.store.failNext(Operation.EPOCHS, Fault.LOST_REPLY);
        tick(a, 1);
        assertThat(a.availability("default").problems()).isEmpty();
        tick(a, 1);
        assertThat(a.availability("default").problems()).isEmpty();

        bench.store.fail(Operation.EPOCHS, Fault.LOST_REPLY);
        tick(a, 2);
        assertThat(a.availability("default").problems()).hasSize(1);
        bench.store.back();
        tick(a, 1);
        assertThat(a.availability("default").problems()).isEmpty();
    }

    @Test
    void recoversAfterSeveralProbesInARow() {
        cutOff();
        bench.store.back();
        tick(a, PROBES - 1);
        bench.store.failNext(Operation.PROBE, Fault.LOST_REPLY);
        tick(a, 1);
        tick(a, PROBES - 1);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(bench.events.next()).contains("default UNAVAILABLE", "default AVAILABLE");
        assertThat(a.fetch(key, () -> "value")).isEqualTo("value");
        assertThat(bench.store.parts(key)).containsExactly("value");
    }

    @Test
    void deliversEverythingBeforeReadersAreLetIn() throws Exception {
        b.fetch(key, () -> "old");
        cutOff();
        a.update(List.of(key), () -> null);
        assertThat(a.undelivered("default")).isEqualTo(1);
        bench.store.back();
        tick(a, PROBES - 1);
        Held delivery = bench.store.hold(Operation.DROP);
        Caller<Boolean> recovery = inBackground(() -> tick(a, 1));
        delivery.awaitReached();
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        delivery.release();
        recovery.result();
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(a.undelivered("default")).isZero();
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void letsUpdatesThroughWhileItDelivers() throws Exception {
        CacheKey<String> other = Workbench.ap().key(2);
        cutOff();
        a.invalidate(key);
        bench.store.back();
        b.fetch(other, () -> "old");
        tick(a, PROBES - 1);
        Held delivery = bench.store.hold(Operation.DROP);
        Caller<Boolean> recovery = inBackground(() -> tick(a, 1));
        delivery.awaitReached();
        a.invalidate(other);
        assertThat(bench.store.parts(other)).contains("staleUntil");
        delivery.release();
        recovery.result();
    }

    @Test
    void waitsForThoseWhoWereRefusedBeforeTheRecovery() throws Exception {
        b.fetch(key, () -> "old");
        Held deliveryBarrier = bench.store.hold(Operation.INVALIDATE);
        Caller<Boolean> update = inBackground(() -> a.invalidate(key));
        deliveryBarrier.awaitReached();
        cutOff();
        bench.store.back();
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        tick(a, PROBES - 1);
        Caller<Boolean> recovery = inBackground(() -> tick(a, 1)).awaitWaiting();
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        deliveryBarrier.release();
        update.result();
        recovery.result();
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    /** The later one begins before the earlier one ends, so there is always one under way. */
    @Test
    void waitsForNoInvalidationThatBeganAfterIt() throws Exception {
        Held earlier = bench.store.hold(Operation.INVALIDATE);
        Caller<Boolean> first = inBackground(() -> a.invalidate(key));
        earlier.awaitReached();
        cutOff();
        bench.store.back();
        tick(a, PROBES - 1);
        Caller<Boolean> recovery = inBackground(() -> tick(a, 1)).awaitWaiting();
        Held later = bench.store.hold(Operation.INVALIDATE);
        Caller<Boolean> second = inBackground(() -> a.invalidate(Workbench.ap().key(2)));
        later.awaitReached();
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);

        earlier.release();

        first.result();
        recovery.result();
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        later.release();
        second.result();
    }

    /** An invalidation beside late ones of its update, and a clearing. */
    @Test
    void waitsForEveryKindOfInvalidation() throws Exception {
        List<CacheKey<?>> keys = List.of(key);
        waitsFor(Operation.DROP, () -> cluster(a).invalidateAgain(keys));
        waitsFor(Operation.INVALIDATE, () -> cluster(a).invalidateRolledBack(keys));
        waitsFor(Operation.RAISE_EPOCH, () -> a.invalidate(key.spec().all()));
        assertThat(a.undelivered("default")).isZero();
    }

    private void waitsFor(Operation operation, Runnable invalidation) throws Exception {
        Held call = bench.store.hold(operation);
        Caller<Boolean> update = inBackground(invalidation);
        call.awaitReached();
        cutOff();
        bench.store.back();
        bench.store.failNext(operation, Fault.LOST_REQUEST);
        tick(a, PROBES - 1);
        Caller<Boolean> recovery = inBackground(() -> tick(a, 1)).awaitWaiting();
        call.release();
        update.result();
        recovery.result();
        // The recovery of a clearing waits until other nodes have read the epochs.
        bench.clock.advance(SEEN_EVERYWHERE);
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
    }

    @Test
    void stopsToWaitWhenItIsStopped() throws Exception {
        Held call = bench.store.hold(Operation.INVALIDATE);
        Caller<Boolean> update = inBackground(() -> a.invalidate(key));
        call.awaitReached();
        cutOff();
        bench.store.back();
        tick(a, PROBES - 1);
        Caller<Boolean> recovery = inBackground(() -> tick(a, 1)).awaitWaiting();

        recovery.interrupt();

        recovery.result();
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        call.release();
        update.result();
        tick(a, PROBES);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
    }

    @Test
    void endsThePreparedUpdateWhoseEndGotLost() {
        CacheKey<String> cp = Workbench.cp().key(1);
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        a.update(List.of(cp), () -> null);
        assertThat(bench.store.parts(cp)).containsExactly("intents");
        tick(a, 1);
        assertThat(bench.store.parts(cp)).isEmpty();
        assertThat(a.undelivered("default")).isZero();
    }

    @Test
    void keepsTheInvalidationThatFailsInAWayThatNobodyForesaw() {
        bench.store.onNext(Operation.INVALIDATE, () -> {
            throw new IllegalStateException("a fault of the store");
        });
        assertThatIllegalStateException().isThrownBy(() -> a.invalidate(key));
        assertThat(a.undelivered("default")).isEqualTo(1);
    }

    @Test
    void beginsAgainWhenTheRecoveryFailsMidway() {
        b.fetch(key, () -> "old");
        cutOff();
        a.invalidate(key);
        bench.store.back();
        bench.store.failNext(Operation.DROP, Fault.LOST_REQUEST);
        tick(a, PROBES);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        a.invalidate(Workbench.ap().key(2));
        assertThat(a.undelivered("default")).isEqualTo(2);
        tick(a, PROBES - 1);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    /** Its rounds fail for seconds first. Meanwhile another server may have been promoted. One trial of three must be quick. */
    @Test
    void probesSoonAfterItsOwnRoundsHaveMarkedItUnavailable() {
        Duration interval = Duration.ofSeconds(1);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 1000, interval, 1))
                .build();
        Duration shortest = interval;
        for (int trial = 0; trial < 3 && shortest.compareTo(interval.dividedBy(2)) > 0; trial++) {
            bench.store.fail(Operation.EPOCHS, Fault.LOST_REPLY);
            await().pollInterval(Duration.ofMillis(5)).until(() -> stateOf(running) == State.UNAVAILABLE);
            bench.store.back();
            long markedAt = System.nanoTime();
            await().pollInterval(Duration.ofMillis(5)).until(() -> stateOf(running) == State.AVAILABLE);
            Duration took = Duration.ofNanos(System.nanoTime() - markedAt);
            shortest = took.compareTo(shortest) < 0 ? took : shortest;
        }
        running.stop();
        assertThat(shortest).isLessThan(interval.dividedBy(2));
    }

    /**
     * A server that was just started or promoted refuses calls for a while, a cluster's master for 2 s. The first probe follows
     * the marking, the second one is that of the next round, and the third one comes a full interval later. A busy machine
     * can only lengthen these pauses.
     */
    @Test
    void probesSoonAgainAfterANewConnectionOnly() {
        Duration interval = Duration.ofSeconds(1);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 1000, interval, 1))
                .build();
        List<Long> probes = timesOfProbes();
        // A round that a busy machine delays is followed by a shorter pause.
        Duration soon = interval.dividedBy(2);
        try {
            bench.store.fail(Operation.PROBE, Fault.LOST_REPLY);
            bench.store.fail(Operation.EPOCHS, Fault.LOST_REPLY);
            await().until(() -> probes.size() >= 3);
            assertThat(pauses(probes).get(1)).isGreaterThan(soon);

            int before = probes.size();
            bench.store.reconnect();
            await().until(() -> pauses(probes).stream()
                            .skip(before)
                            .filter(pause -> pause.compareTo(soon) < 0)
                            .count()
                    >= 4);

            bench.clock.advance(Duration.ofSeconds(5));
            int after = probes.size() + 1;
            await().until(() -> probes.size() > after + 1);
            assertThat(pauses(probes).get(after)).isGreaterThan(soon);
        } finally {
            running.stop();
        }
    }

    private List<Long> timesOfProbes() {
        List<Long> times = new CopyOnWriteArrayList<>();
        bench.store.onNext(Operation.PROBE, new Runnable() {
            @Override
            public void run() {
                times.add(System.nanoTime());
                bench.store.onNext(Operation.PROBE, this);
            }
        });
        return times;
    }

    private static List<Duration> pauses(List<Long> times) {
        return IntStream.range(1, times.size())
                .mapToObj(i -> Duration.ofNanos(times.get(i) - times.get(i - 1)))
                .toList();
    }

    @Test
    void marksUnavailableAStoreThatAnswersReadsButTakesNoInvalidation() {
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        bench.store.fail(Operation.DROP, Fault.LOST_REQUEST);
        for (int i = 0; i < 1000; i++) {
            a.fetch(key, () -> "old");
        }
        a.invalidate(key);
        tick(a, PROBES - 1);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        assertThat(a.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void forgivesFailuresThatDoNotFollowEachOther() {
        tick(a, 1);
        for (int i = 0; i < 5; i++) {
            bench.store.failNext(Operation.EPOCHS, Fault.LOST_REQUEST);
            tick(a, 3);
        }
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
    }

    @Test
    void keepsNothingLocallyOfTheTimeBeforeARecovery() throws Exception {
        cutOff();
        a.fetch(key, () -> "old");
        GatedLoader<String> loader = new GatedLoader<>(() -> "old");
        Caller<String> slow = Workbench.call(() -> a.fetch(Workbench.ap().key(2), loader));
        loader.awaitEntered();
        bench.store.back();
        tick(a, PROBES);
        loader.letGo();
        slow.result();
        cutOff();
        assertThat(a.fetch(key, () -> "new")).isEqualTo("new");
        assertThat(a.fetch(Workbench.ap().key(2), () -> "new")).isEqualTo("new");
    }

    @Test
    void leavesToTheOperatorWhatIsForced() {
        availability(a).force(State.UNAVAILABLE);
        tick(a, 10);
        assertThat(bench.store.count()).isZero();
        a.invalidate(key);
        b.fetch(key, () -> "old");
        availability(a).reset();
        tick(a, PROBES - 1);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void asksAStoreThatIsForcedToBeAvailableWhateverItAnswers() {
        cutOff();
        availability(a).force(State.AVAILABLE);
        int before = bench.store.count();
        for (int i = 0; i < 100; i++) {
            a.fetch(key, () -> "value");
            tick(a, 1);
        }
        assertThat(bench.store.count()).isGreaterThanOrEqualTo(before + 200);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
    }

    @Test
    void goesOnAfterAnErrorThatNobodyForesaw() {
        bench.store.onNext(Operation.EPOCHS, () -> {
            throw new NoClassDefFoundError("a jar that is gone");
        });
        tick(a, 1);
        assertThat(bench.store.count(Operation.EPOCHS)).isEqualTo(1);
        b.fetch(key, () -> "old");
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        a.invalidate(key);
        tick(a, 1);
        assertThat(a.undelivered("default")).isZero();
    }

    @Test
    void doesNotWaitForTheNextLookToDeliver() {
        bench.store.fail(Operation.EPOCHS, Fault.LOST_REQUEST);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 1, 1000, Duration.ofSeconds(1), 1000))
                .build();
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        running.invalidate(key);
        await().until(() -> running.undelivered("default") == 0);
        running.stop();
    }

    @Test
    void forgivesFailuresThatDoNotSpeakOfTheServerAndSaysSoOnceAMinute() {
        try (LogCapture log = LogCapture.of(Availability.class)) {
            for (int i = 0; i < 20; i++) {
                bench.store.onNext(Operation.READ, () -> {
                    throw new StoreUnavailableException("Redis answered: NOPERM", false, null);
                });
                a.fetch(key, () -> "value");
            }
            assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("NOPERM", "not cached", "CP updates of them are refused", "allow ~<key-prefix>*");
        }
    }

    @Test
    void doesNotCountWhatWaitedBehindLargeValues() {
        for (int i = 0; i < 20; i++) {
            bench.store.onNext(Operation.READ, RecoveryWorkerTests::waitBehindLargeValues);
            a.fetch(key, () -> "value");
        }
        for (int i = 0; i < 20; i++) {
            bench.store.onNext(Operation.EPOCHS, RecoveryWorkerTests::waitBehindLargeValues);
            tick(a, 1);
        }
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        bench.store.failNext(Operation.READ, Fault.LOST_REQUEST);
        a.fetch(key, () -> "value");
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
    }

    /** It would learn of no raised epoch. */
    @Test
    void marksUnavailableWhatItCannotLookAfterForLongBehindLargeValues() {
        tick(a, 1);
        bench.clock.advance(Duration.ofSeconds(10));
        for (int i = 0; i < PROBES; i++) {
            assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
            bench.store.onNext(Operation.EPOCHS, RecoveryWorkerTests::waitBehindLargeValues);
            tick(a, 1);
        }
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
    }

    private static void waitBehindLargeValues() {
        throw StoreUnavailableException.delayed("late", null);
    }

    /** A connection that is made while the worker starts submits a delivery. Later ones must not wait for the next round. */
    @Test
    void aDeliveryThatIsSubmittedDuringTheStartKeepsNoLaterOneBack() {
        List<Runnable> scheduled = new CopyOnWriteArrayList<>();
        EasyCacheEngine[] node = new EasyCacheEngine[1];
        Ticker ticker = new Ticker() {
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
                cluster(node[0]).workers().get(0).submitDelivery();
                return new RecordingScheduler(scheduled);
            }
        };
        node[0] = bench.builder(new JacksonValueCodec()).ticker(ticker).buildStopped();
        RecoveryWorker worker = cluster(node[0]).workers().get(0);
        worker.start();

        worker.submitDelivery();

        assertThat(scheduled).hasSize(1);
        worker.stop();
    }

    private record RecordingScheduler(List<Runnable> scheduled) implements Scheduler {

        @Override
        public void execute(Runnable task) {
            scheduled.add(task);
        }

        @Override
        public void schedule(Runnable task, long delayNanos) {
            scheduled.add(task);
        }

        @Override
        public void repeat(Runnable task, long delayNanos) {}

        @Override
        public void stop() {}

        @Override
        public void stopNow() {}

        @Override
        public boolean awaitStop(long nanos) {
            return true;
        }
    }
}
