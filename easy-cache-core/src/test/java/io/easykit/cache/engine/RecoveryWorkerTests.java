package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.AvailabilityOptions;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.Loader;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.store.InMemoryEntryStore.Fault;
import io.easykit.cache.store.InMemoryEntryStore.Held;
import io.easykit.cache.store.InMemoryEntryStore.Operation;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Node A is cut off and comes back; node B looks on. */
class RecoveryWorkerTests {

    private static final int PROBES = AvailabilityOptions.defaults().probesToRecover();
    private static final Duration KEEP_RECENT = Duration.ofSeconds(30);
    private static final Duration SEEN_EVERYWHERE = Duration.ofMillis(1500);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine a = bench.node(
            new DegradedOptions(Duration.ofMinutes(1), 32, CpReads.BYPASS, CpUpdates.PROCEED, ApUpdates.PROCEED, 2));
    private final EasyCacheEngine b = bench.node();
    private final CacheKey<String> key = Workbench.ap().key(1);

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
    void raisesTheEpochWhenTheJournalOverflowedAndWaitsUntilItIsSeen() {
        for (int id = 1; id <= 3; id++) {
            b.fetch(Workbench.ap().key(id), () -> "old");
        }
        cutOff();
        for (int id = 1; id <= 3; id++) {
            a.invalidate(Workbench.ap().key(id));
        }
        bench.store.back();
        tick(a, PROBES);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        tick(b, 1);
        bench.clock.advance(SEEN_EVERYWHERE.minusMillis(1));
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        bench.clock.advance(Duration.ofMillis(1));
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(1);
        for (int id = 1; id <= 3; id++) {
            assertThat(b.fetch(Workbench.ap().key(id), () -> "new")).isEqualTo("new");
        }
    }

    @Test
    void updatesGoStraightToTheStoreWhileTheEpochIsBeingSeen() {
        overflow();
        bench.store.back();
        tick(a, PROBES);
        b.fetch(key, () -> "old");
        a.invalidate(key);
        assertThat(a.undelivered("default")).isZero();
        assertThat(bench.store.parts(key)).contains("staleUntil");
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

    @Test
    void keepsThePrefixWhoseEpochCouldNotBeRaised() {
        b.fetch(key, () -> "old");
        overflow();
        bench.store.back();
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);
        tick(a, PROBES);
        assertThat(a.undelivered("default")).isEqualTo(1);
        tick(a, PROBES);
        bench.clock.advance(SEEN_EVERYWHERE);
        tick(a, 1);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        tick(b, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void givesANewNodeNothingOfAnOlderEpoch() {
        b.fetch(key, () -> "old");
        overflow();
        bench.store.back();
        tick(a, PROBES);
        assertThat(bench.node().fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void takesForNoValueWhatIsStoredByALeaseOfAnOlderEpoch() throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(() -> "old");
        Caller<String> early = Workbench.call(() -> b.fetch(key, loader));
        loader.awaitEntered();
        overflow();
        bench.store.back();
        tick(a, PROBES);
        loader.letGo();
        early.result();
        assertThat(bench.store.parts(key)).contains("value");
        tick(b, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void raisesAgainTheEpochThatAStoreHasLost() {
        overflow();
        bench.store.back();
        tick(a, PROBES);
        bench.clock.advance(SEEN_EVERYWHERE);
        tick(a, 1);
        bench.store.loseEpochs();
        bench.node().fetch(key, () -> "from before the epoch");
        tick(a, 1);
        assertThat(bench.node().fetch(key, () -> "new")).isEqualTo("new");
        assertThat(a.fetch(key, () -> "newer")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasInvalidatedShortlyBeforeAReconnection() {
        a.invalidate(key);
        bench.store.reconnect();
        b.fetch(key, () -> "what the new master has");
        tick(a, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasInvalidatedShortlyBeforeItWasLostHoweverLongThatTook() {
        a.invalidate(key);
        cutOff();
        bench.clock.advance(Duration.ofHours(1));
        bench.store.back();
        b.fetch(key, () -> "what the new master has");
        tick(a, PROBES);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasDeliveredByTheJournal() {
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        a.invalidate(key);
        tick(a, 1);
        assertThat(a.undelivered("default")).isZero();

        b.fetch(key, () -> "what the new master has");
        bench.store.reconnect();
        tick(a, 1);

        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasDeliveredByARecovery() {
        cutOff();
        a.invalidate(key);
        bench.clock.advance(KEEP_RECENT.multipliedBy(2));
        bench.store.back();
        tick(a, PROBES);

        b.fetch(key, () -> "what the new master has");
        bench.store.reconnect();
        tick(a, 1);

        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasSaidAgain() {
        a.invalidate(key);
        bench.clock.advance(KEEP_RECENT.minusSeconds(1));
        bench.store.reconnect();
        tick(a, 1);
        bench.clock.advance(KEEP_RECENT.minusSeconds(1));
        tick(a, 1);

        b.fetch(key, () -> "what the new master has");
        bench.store.reconnect();
        tick(a, 1);

        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    /** A view is computed from a user. A reader that comes between their invalidations must not store an old view. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void deliversTheKeysOfAnUpdateAsAGroup(boolean wasAcknowledged) {
        CacheKey<String> user = Workbench.cp().key("user");
        CacheKey<String> view = Workbench.cp().key("view");
        List<CacheKey<?>> filler = IntStream.range(0, 150)
                .<CacheKey<?>>mapToObj(id -> Workbench.cp().key(id))
                .toList();
        AtomicReference<String> database = new AtomicReference<>("old");
        Loader<String, RuntimeException> loadView = () -> "view of " + b.fetch(user, database::get);
        EasyCacheEngine large = bench.node(DegradedOptions.defaults());
        List<CacheKey<?>> all = new ArrayList<>(filler);
        all.add(0, view);
        all.add(user);
        if (!wasAcknowledged) {
            bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
            bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        }
        database.set("new");
        large.invalidate(all);
        b.fetch(user, () -> "old");
        b.fetch(view, () -> "view of old");
        if (wasAcknowledged) {
            bench.store.reconnect();
        }

        beforeEachDrop(() -> b.fetch(view, loadView));
        tick(large, 1);

        assertThat(large.undelivered("default")).isZero();
        assertThat(b.fetch(view, loadView)).isEqualTo("view of new");
    }

    private void beforeEachDrop(Runnable action) {
        bench.store.onNext(Operation.DROP, () -> {
            action.run();
            beforeEachDrop(action);
        });
    }

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
                .availability(new AvailabilityOptions(Duration.ofSeconds(10), 1, 1000, Duration.ofSeconds(1), 1000))
                .build();
        await().until(() -> bench.store.count(Operation.EPOCHS) > 0);
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        bench.store.fail(Operation.DROP, Fault.LOST_REQUEST);
        running.invalidate(key);
        bench.store.back();
        running.stop();
        assertThat(running.undelivered("default")).isZero();
    }

    /** Its rounds fail for seconds first. Meanwhile another server may have been promoted. One trial of three must be quick. */
    @Test
    void probesSoonAfterItsOwnRoundsHaveMarkedItUnavailable() {
        Duration interval = Duration.ofSeconds(1);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .availability(new AvailabilityOptions(Duration.ofSeconds(10), 1, 1000, interval, 1))
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

    @Test
    void saysNothingAgainThatIsLongPast() {
        a.invalidate(key);
        bench.clock.advance(KEEP_RECENT.plusMillis(1));
        tick(a, 1);
        bench.store.reconnect();
        tick(a, 1);
        assertThat(bench.store.count(Operation.DROP)).isZero();
    }

    @Test
    void triesAgainWhatCouldNotBeSaidAgain() {
        a.invalidate(key);
        bench.store.reconnect();
        b.fetch(key, () -> "what the new master has");
        bench.store.failNext(Operation.DROP, Fault.LOST_REQUEST);
        tick(a, 2);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
        tick(a, 1);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(2);
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
        bench.store.away();
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
    void worksOnAThreadThatMayBeStoppedAndStarted() {
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .availability(new AvailabilityOptions(Duration.ofSeconds(10), 0.5, 10, Duration.ofMillis(5), 2))
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

    @Test
    void doesNotWaitForTheNextLookToDeliver() {
        bench.store.fail(Operation.EPOCHS, Fault.LOST_REQUEST);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .availability(new AvailabilityOptions(Duration.ofSeconds(10), 1, 1000, Duration.ofSeconds(1), 1000))
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
    void takesNoValueOfAnOlderEpochAfterAPause() throws Exception {
        b.fetch(key, () -> "old");
        overflow();
        bench.store.back();
        tick(a, PROBES);
        Held firstLook = bench.store.hold(Operation.EPOCHS);
        b.start();
        Caller<String> reader = Workbench.call(() -> b.fetch(key, () -> "new"));
        firstLook.release();
        assertThat(reader.result()).isEqualTo("new");
        b.stop();
    }

    @Test
    void repeatsNothingAtTheFirstStart() throws Exception {
        Held firstLook = bench.store.hold(Operation.EPOCHS);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .availability(new AvailabilityOptions(Duration.ofSeconds(10), 0.5, 10, Duration.ofMillis(5), 2))
                .build();
        firstLook.awaitReached();
        running.update(List.of(key), () -> null);
        running.fetch(key, () -> "new");
        firstLook.release();
        await().until(() -> bench.store.count(Operation.EPOCHS) > 2);
        assertThat(bench.store.count(Operation.DROP)).isZero();
        assertThat(b.fetch(key, () -> "loaded again")).isEqualTo("new");
        running.stop();
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

    private void cutOff() {
        bench.store.away();
        for (int i = 0; i < 10; i++) {
            a.fetch(CacheSpec.of("any", String.class).key(i), () -> "any");
        }
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
    }

    /** Of prefix "name". */
    private void overflow() {
        cutOff();
        for (int id = 1; id <= 3; id++) {
            a.invalidate(Workbench.ap().key(id));
        }
    }

    private static void tick(EasyCacheEngine cache, int times) {
        for (int i = 0; i < times; i++) {
            cluster(cache).workers().get(0).tick();
        }
    }

    private static Caller<Boolean> inBackground(Runnable work) {
        return Workbench.call(() -> {
            work.run();
            return true;
        });
    }

    private static Availability availability(EasyCacheEngine cache) {
        return cluster(cache).availability();
    }

    private static State stateOf(EasyCacheEngine cache) {
        return availability(cache).state();
    }

    private static CacheCluster cluster(EasyCacheEngine cache) {
        return Objects.requireNonNull(cache.cluster("default"));
    }
}
