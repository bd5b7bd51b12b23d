package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store in three parts, of which the second one fails. The id of a key decides its part. */
class PartitionTests {

    private static final int PROBES = CircuitBreakerOptions.defaults().probesToRecover();
    private static final Duration SEEN_EVERYWHERE = Duration.ofSeconds(2);

    private final Workbench bench = new Workbench();
    private final CacheKey<String> healthy = Workbench.ap().key(0);
    private final CacheKey<String> lost = Workbench.ap().key(1);
    private final CacheKey<String> healthyCp = Workbench.cp().key(3);
    private final CacheKey<String> lostCp = Workbench.cp().key(4);
    private EasyCacheEngine a = bench.node();
    private EasyCacheEngine b = bench.node();

    @BeforeEach
    void inParts() {
        bench.store.inParts(3);
        a = bench.node(
                new DegradedOptions(Duration.ofMinutes(1), 32, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 3));
        b = bench.node();
        tick(a, 1);
        tick(b, 1);
    }

    @Test
    void onePartThatIsAwayLeavesTheOthersAlone() {
        cutOff(a);

        assertThat(a.availability("default").masters())
                .isEqualTo(Map.of("part 0", State.AVAILABLE, "part 1", State.UNAVAILABLE, "part 2", State.AVAILABLE));
        assertThat(a.availability("default").state()).isEqualTo(State.UNAVAILABLE);
        assertThat(a.fetch(healthy, () -> "value")).isEqualTo("value");
        assertThat(a.fetch(healthy, () -> "never")).isEqualTo("value");
        a.update(List.of(healthyCp), () -> null);
        a.update(List.of(healthy), () -> null);
        assertThat(a.undelivered("default")).isZero();
        int reads = bench.store.count(Operation.READ);
        assertThat(a.fetch(lost, () -> "own")).isEqualTo("own");
        assertThat(bench.store.count(Operation.READ)).isEqualTo(reads);
    }

    @Test
    void aRecoveryDoesNotWaitForInvalidationsOfAHealthyPart() throws Exception {
        cutOff(a);
        bench.store.back(1);
        tick(a, PROBES - 1);
        Held call = bench.store.hold(Operation.INVALIDATE);
        Caller<Boolean> update = TwoNodes.inBackground(() -> a.invalidate(healthy));
        call.awaitReached();
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);

        TwoNodes.inBackground(() -> tick(a, 1)).result();

        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        call.release();
        update.result();
    }

    @Test
    void refusesACpUpdateAsAWholeBeforeAnythingIsSent() {
        b.fetch(healthyCp, () -> "value");
        cutOff(a);
        int prepared = bench.store.count(Operation.PREPARE);

        assertThatThrownBy(() -> a.update(List.of(healthyCp, lostCp), () -> {
                    throw new AssertionError("must not run");
                }))
                .isInstanceOf(CacheUnavailableException.class);

        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(prepared);
        assertThat(bench.store.parts(healthyCp)).as("not invalidated").containsExactly("value");
        assertThat(a.undelivered("default")).isZero();
    }

    @Test
    void refusesACpUpdateOfATransactionBeforeAnythingIsSent() {
        b.fetch(healthyCp, () -> "value");
        cutOff(a);
        int prepared = bench.store.count(Operation.PREPARE);

        bench.transactions.begin();
        a.updateInTransaction(List.of(healthyCp, lostCp), () -> null);
        assertThatThrownBy(() -> bench.transactions.commit(() -> {
                    throw new AssertionError("must not commit");
                }))
                .isInstanceOf(CacheUnavailableException.class);

        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(prepared);
    }

    @Test
    void refusesAKeyThatIsAddedAfterThePreparationEachTime() {
        bench.transactions.begin();
        a.updateInTransaction(List.of(healthyCp), () -> null);
        Objects.requireNonNull(bench.transactions.current()).beforeCommit();
        bench.store.away(1);

        for (int time = 0; time < 2; time++) {
            assertThatThrownBy(() -> a.updateInTransaction(List.of(lostCp), () -> null))
                    .isInstanceOf(CacheUnavailableException.class);
        }
    }

    @Test
    void commitsATransactionThatGoesOnAfterARefusedUpdate() {
        cutOff(a);
        List<String> commits = new ArrayList<>();

        bench.transactions.begin();
        assertThatThrownBy(() -> a.update(List.of(lostCp), () -> {
                    throw new AssertionError("must not run");
                }))
                .isInstanceOf(CacheUnavailableException.class);
        bench.transactions.commit(() -> commits.add("commit"));

        assertThat(commits).hasSize(1);
    }

    @Test
    void refusesToClearACpCacheBeforeAnythingIsSent() {
        b.fetch(healthyCp, () -> "value");
        cutOff(a);
        int raised = bench.store.count(Operation.RAISE_EPOCH);

        assertThatThrownBy(() -> a.update(List.of(Workbench.cp().all()), () -> {
                    throw new AssertionError("must not run");
                }))
                .isInstanceOf(CacheUnavailableException.class);

        assertThat(bench.store.count(Operation.PREPARE_CLEAR)).isZero();
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(raised);
        bench.store.back(1);
        tick(a, PROBES);
        assertThat(b.fetch(healthyCp, () -> "never")).as("not cleared").isEqualTo("value");
    }

    @Test
    void aBatchReadsTheKeysOfAHealthyPartThatSharesTheRangeOfALostOne() {
        bench.store.inPartsOfOneRange(2);
        EasyCacheEngine node = bench.node();
        tick(node, 1);
        CacheSpec<String> cp = Workbench.cp();
        node.fetch(cp.key(0), () -> "cached");
        bench.clock.advance(Epochs.MAX_AGE);
        bench.store.away(1);
        tick(node, PROBES);

        Map<Integer, String> values = node.fetchAll(
                cp, List.of(1, 0), ids -> ids.stream().collect(Collectors.toMap(id -> id, id -> "loaded")));

        assertThat(values).isEqualTo(Map.of(1, "loaded", 0, "cached"));
    }

    /** Each part has a copy of the epochs. */
    @Test
    void keysOfAHealthyPartAreCachedWhileAClearingWaitsForAnotherPartOfTheirRange() {
        bench.store.inPartsOfOneRange(2);
        EasyCacheEngine node = bench.node();
        tick(node, 1);
        bench.store.away(1);
        node.invalidateAll(healthy.spec());
        assertThat(node.undelivered("default")).isOne();

        assertThat(node.fetch(healthy, () -> "value")).isEqualTo("value");
        assertThat(node.fetch(healthy, () -> "never")).isEqualTo("value");
        bench.store.back(1);
        assertThat(node.fetch(lost, () -> "one")).isEqualTo("one");
        assertThat(node.fetch(lost, () -> "two")).as("its clearing waits").isEqualTo("two");
    }

    /** It relies on the copies in the other parts. */
    @Test
    void aKeyWithoutACopyInItsPartWaitsForAllClearingsOfItsRange() {
        bench.store.inPartsOfOneRange(2);
        bench.store.repartition(3);
        EasyCacheEngine node = bench.node();
        tick(node, 1);
        bench.store.away(1);
        node.invalidateAll(healthy.spec());

        CacheKey<String> none = Workbench.ap().key(2);
        assertThat(node.fetch(none, () -> "one")).isEqualTo("one");
        assertThat(node.fetch(none, () -> "two")).as("its clearing waits").isEqualTo("two");
    }

    @Test
    void hitsDoNotCallTheStoreForItsPartitionsWhileAKeyWaits() {
        a.fetch(healthy, () -> "value");
        bench.store.away(1);
        a.invalidate(lost);
        assertThat(a.undelivered("default")).isOne();

        assertHitsCallForNoPartitions(a);
    }

    @Test
    void hitsDoNotCallTheStoreForItsPartitionsWhileAClearingWaits() {
        bench.store.away(1);
        a.invalidateAll(healthy.spec());
        assertThat(a.undelivered("default")).isOne();
        a.fetch(healthy, () -> "value");

        assertHitsCallForNoPartitions(a);
    }

    private void assertHitsCallForNoPartitions(EasyCacheEngine node) {
        int before = bench.store.partitionCalls();
        for (int hit = 0; hit < 100; hit++) {
            assertThat(node.fetch(healthy, () -> "never")).isEqualTo("value");
        }
        assertThat(bench.store.partitionCalls()).isEqualTo(before);
    }

    @Test
    void aBatchAsksAPartThatIsAwayOnce() {
        bench.store.inParts(4);
        bench.store.repartition(2);
        EasyCacheEngine node = bench.node();
        tick(node, 1);
        bench.clock.advance(Epochs.MAX_AGE);
        bench.store.away(1);
        int before = bench.store.count(Operation.EPOCHS);

        node.fetchAll(
                Workbench.cp(), List.of(1, 3), ids -> ids.stream().collect(Collectors.toMap(id -> id, id -> "loaded")));

        assertThat(bench.store.count(Operation.EPOCHS) - before).isEqualTo(1);
    }

    @Test
    void doesForHealthyKeysOfAnApUpdateWhatItShould() {
        b.fetch(healthy, () -> "old");
        cutOff(a);

        a.update(List.of(healthy, lost), () -> null);

        assertThat(bench.store.parts(healthy)).doesNotContain("intents", "value");
        assertThat(a.undelivered("default")).isEqualTo(1);
        a.fetch(healthy, () -> "new");
        assertThat(a.fetch(healthy, () -> "never")).isEqualTo("new");
    }

    @Test
    void recoversEachPartByItself() {
        b.fetch(lost, () -> "old");
        cutOff(a);
        a.update(List.of(lost), () -> null);
        bench.events.next();
        bench.store.back(1);

        tick(a, PROBES);

        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(a.undelivered("default")).isZero();
        assertThat(bench.store.parts(lost)).isEmpty();
        assertThat(bench.events.next()).contains("default AVAILABLE", "default part 1 AVAILABLE");
    }

    @Test
    void invalidatesTheOthersOfAnUpdateAgainWhenALateOneWasDelivered() {
        b.fetch(lost, () -> "old");
        cutOff(a);
        a.update(List.of(healthy, lost), () -> null);
        bench.store.back(1);
        String outer = b.fetch(healthy, () -> "from " + b.fetch(lost, () -> "never"));
        assertThat(outer).isEqualTo("from old");
        assertThat(bench.store.parts(healthy)).contains("value");

        tick(a, PROBES);

        assertThat(bench.store.parts(lost)).isEmpty();
        assertThat(bench.store.parts(healthy)).isEmpty();
    }

    @Test
    void invalidatesTheOthersOfSeveralUpdatesAgainWhenALateOneWasDelivered() {
        CacheKey<String> second = Workbench.ap().key(3);
        cutOff(a);
        a.update(List.of(healthy, lost), () -> null);
        a.update(List.of(second, lost), () -> null);
        a.update(List.of(lost), () -> null);
        bench.store.back(1);
        b.fetch(healthy, () -> "from the old one");
        b.fetch(second, () -> "from the old one");

        tick(a, PROBES);

        assertThat(bench.store.parts(healthy)).isEmpty();
        assertThat(bench.store.parts(second)).isEmpty();
    }

    @Test
    void repeatsTheOthersOfAnUpdateAfterAFailover() {
        a.update(List.of(healthy, lost), () -> null);
        b.fetch(lost, () -> "what the promoted replica still had");
        b.fetch(healthy, () -> "computed from it");

        bench.store.reconnect();
        tick(a, 1);

        assertThat(bench.store.parts(lost)).isEmpty();
        assertThat(bench.store.parts(healthy)).isEmpty();
    }

    @Test
    void keepsTheOtherForLaterWhereItsPartIsAwayNow() {
        cutOff(a);
        a.update(List.of(healthy, lost), () -> null);
        b.fetch(healthy, () -> "computed from the old one");
        bench.store.back(1);
        bench.store.away(0);
        tick(a, PROBES);
        assertThat(bench.store.parts(healthy)).contains("value");

        bench.store.back(0);
        tick(a, 2 * PROBES);

        assertThat(bench.store.parts(healthy)).isEmpty();
        assertThat(a.undelivered("default")).isZero();
    }

    @Test
    void raisesTheEpochsOfThePartOnlyAndOnceMoreWhenTheyAreKnown() {
        b.fetch(healthy, () -> "healthy");
        for (int id = 1; id <= 10; id += 3) {
            b.fetch(Workbench.ap().key(id), () -> "old");
        }
        cutOff(a);
        for (int id = 1; id <= 10; id += 3) {
            a.invalidate(Workbench.ap().key(id));
        }
        bench.store.back(1);
        tick(a, PROBES);
        assertThat(stateOf(a)).isEqualTo(State.UNAVAILABLE);
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(1);

        bench.clock.advance(SEEN_EVERYWHERE);
        tick(a, 1);
        tick(b, 1);

        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(2);
        assertThat(b.fetch(lost, () -> "new")).isEqualTo("new");
        assertThat(b.fetch(healthy, () -> "never")).isEqualTo("healthy");
    }

    @Test
    void raisesTheEpochsOfOthersThatWereUpdatedTogetherWithDroppedOnes() {
        cutOff(a);
        for (int id = 1; id <= 10; id += 3) {
            a.update(List.of(Workbench.ap().key(id), view()), () -> null);
        }
        b.fetch(view(), () -> "computed from an old one");
        bench.store.back(1);
        tick(a, PROBES);
        bench.clock.advance(SEEN_EVERYWHERE);

        tick(a, 1);
        tick(b, 1);

        assertThat(b.fetch(view(), () -> "new")).isEqualTo("new");
    }

    private static CacheKey<String> view() {
        return CacheSpec.of("view", String.class).key(0);
    }

    @Test
    void epochsMeanTheSameToNodesWithOtherPartitions() {
        b.fetch(lost, () -> "old");
        bench.store.repartition(2);
        EasyCacheEngine other = bench.node();
        tick(other, 1);

        a.cluster("default").epochs().raise(1, List.of("name"));
        tick(other, 1);

        assertThat(other.fetch(lost, () -> "new")).isEqualTo("new");
    }

    @Test
    void takesNewPartitionsOnlyWhileAllIsWell() {
        cutOff(a);
        bench.store.repartition(2);
        tick(a, 1);
        assertThat(a.availability("default").masters()).hasSize(3);

        bench.store.back(1);
        tick(a, PROBES + 1);

        assertThat(a.availability("default").masters()).hasSize(2);
    }

    @Test
    void loseNoInvalidationWhenTheyBecomeKnownDuringAnOutage() {
        EasyCacheEngine late = bench.node(
                new DegradedOptions(Duration.ofMinutes(1), 32, CpReads.BYPASS, CpUpdates.REFUSE, ApUpdates.PROCEED, 3));
        b.fetch(lost, () -> "old");
        bench.store.away();
        for (int i = 0; i < 10; i++) {
            late.invalidate(lost);
        }
        bench.store.back();
        tick(late, 1);
        assertThat(late.availability("default").masters()).hasSize(3).containsEntry("part 1", State.UNAVAILABLE);

        tick(late, PROBES);

        assertThat(stateOf(late)).isEqualTo(State.AVAILABLE);
        assertThat(bench.store.parts(lost)).doesNotContain("value");
    }

    @Test
    void invalidatesTwiceWhatCouldNotBePreparedButInvalidated() {
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);

        a.update(List.of(healthy, lost), () -> {
            bench.store.onNext(Operation.DROP, () -> {
                assertThat(bench.store.parts(lost)).isEmpty();
                b.fetch(healthy, () -> "computed from an old one between the two invalidations");
            });
            return null;
        });

        assertThat(bench.store.parts(healthy)).isEmpty();
        assertThat(a.undelivered("default")).isZero();
    }

    @Test
    void dropsTheOthersOfAnUpdateWhenARefusedOneWasDeliveredAndNotEachTimeItIsTried() {
        bench.store.refuse(lost);
        a.update(List.of(healthy, lost), () -> null);
        tick(a, 1);
        b.fetch(healthy, () -> "computed from the old one");
        for (int i = 0; i < 3; i++) {
            bench.clock.advance(Duration.ofSeconds(30));
            tick(a, 1);
        }
        assertThat(bench.store.parts(healthy)).containsExactly("value");

        bench.store.allow(lost);
        bench.clock.advance(Duration.ofSeconds(30));
        tick(a, 1);
        assertThat(bench.store.parts(healthy)).isEmpty();
        assertThat(a.undelivered("default")).isZero();
    }

    private void cutOff(EasyCacheEngine cache) {
        bench.store.away(1);
        tick(cache, PROBES);
        assertThat(cache.availability("default").masters()).containsEntry("part 1", State.UNAVAILABLE);
    }

    private static State stateOf(EasyCacheEngine cache) {
        return cache.availability("default").state();
    }

    private static void tick(EasyCacheEngine cache, int times) {
        for (int i = 0; i < times; i++) {
            cache.cluster("default").workers().forEach(RecoveryWorker::tick);
        }
    }
}
