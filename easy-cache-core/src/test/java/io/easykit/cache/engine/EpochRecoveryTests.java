package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Epochs that are raised in place of too many invalidations. */
class EpochRecoveryTests extends TwoNodes {

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

    /** The reply of the read does not have the new epoch. */
    @Test
    void takesNoEpochForLostThatIsRaisedDuringARead() {
        a.invalidateAll(key.spec());
        bench.store.afterNext(Operation.EPOCHS, () -> a.invalidateAll(key.spec()));
        try (LogCapture log = LogCapture.of(EpochUpkeep.class)) {
            tick(a, 2);
            assertThat(log.warnings()).isEmpty();
        }
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(2);
        assertThat(a.undelivered("default")).isZero();
    }

    /** A value can be computed from another one of the same update, whose prefix waits as a whole. */
    @ParameterizedTest
    @EnumSource
    void computesNoEntryOfAnUpdateFromAnOlderOneWhosePrefixWaits(Waiting waiting) {
        CacheKey<String> view = CacheSpec.of("view", String.class).key(1);
        b.fetch(view, () -> "view of " + b.fetch(key, () -> "old"));
        waiting.begin(this);
        a.invalidate(List.of(key, view));
        bench.store.back();
        List<String> between = new ArrayList<>();
        bench.store.onNext(
                Operation.RAISE_EPOCH, () -> between.add(b.fetch(view, () -> "view of " + b.fetch(key, () -> "new"))));

        tick(a, PROBES);
        tick(b, 1);
        bench.clock.advance(SEEN_EVERYWHERE);
        tick(a, 1);

        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(between).containsExactly("view of new");
        assertThat(b.fetch(view, () -> "view of " + b.fetch(key, () -> "new"))).isEqualTo("view of new");
    }

    enum Waiting {
        MORE_KEYS_THAN_FIT {
            @Override
            void begin(EpochRecoveryTests test) {
                test.overflow();
            }
        },
        A_CLEARING_IN_AN_OUTAGE {
            @Override
            void begin(EpochRecoveryTests test) {
                test.cutOff();
                test.a.invalidateAll(test.key.spec());
            }
        },
        /** No recovery repeats the invalidations. */
        A_CLEARING_WITHOUT_AN_OUTAGE {
            @Override
            void begin(EpochRecoveryTests test) {
                test.bench.store.away();
                test.a.invalidateAll(test.key.spec());
            }
        };

        abstract void begin(EpochRecoveryTests test);
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
}
