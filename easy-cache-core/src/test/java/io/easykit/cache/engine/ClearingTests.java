package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.engine.UpdatePreparation.Leases;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Updates of all entries of a prefix, seen from several nodes. A node learns of raised epochs in its {@link #tick}. */
class ClearingTests {

    private static final Duration LEASE = Workbench.ap().options().updateLease();
    private static final Duration SEEN_EVERYWHERE = Duration.ofSeconds(2);
    private static final int PROBES = 3;

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine here = bench.node();
    private final EasyCacheEngine there = bench.node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheSpec<String> ap = Workbench.ap();
    private final CacheSpec<String> cp = Workbench.cp();

    private String read(EasyCacheEngine cache, CacheSpec<String> spec, Object id) {
        return cache.fetch(spec.key(id), database::get);
    }

    private String change() {
        database.set("new");
        return "changed";
    }

    private static void tick(EasyCacheEngine cache) {
        cache.cluster("default").workers().forEach(RecoveryWorker::tick);
    }

    private void advance(Duration by) {
        bench.clock.advance(by);
    }

    // One clearing

    @Test
    void invalidatesAllEntriesForThisNodeAtOnceAndForOthersWhenTheyHaveReadTheEpochs() {
        CacheKey<String> other = CacheSpec.of("other", String.class).key(1);
        for (int id = 0; id < 100; id++) {
            read(here, ap, id);
        }
        here.fetch(other, () -> "other");
        tick(there);
        database.set("new");
        int before = bench.store.count();

        here.invalidateAll(ap);

        assertThat(bench.store.count() - before).as("calls of the store").isEqualTo(2);
        for (int id = 0; id < 50; id++) {
            assertThat(read(here, ap, id)).isEqualTo("new");
        }
        assertThat(read(there, ap, 99)).isEqualTo("old");
        tick(there);
        assertThat(read(there, ap, 99)).isEqualTo("new");
        assertThat(there.fetch(other, () -> "never")).isEqualTo("other");
        assertThat(bench.store.clearing()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void letsNoReaderHaveAValueWhoseLoadBeganBefore(Consistency consistency) throws Exception {
        CacheSpec<String> spec = Workbench.spec(consistency);
        Held store = bench.store.hold(Operation.STORE);
        Caller<String> slow = Workbench.call(() -> read(there, spec, 1));
        store.awaitReached();

        here.update(List.of(spec.all()), this::change);
        store.release();
        assertThat(slow.result()).isEqualTo("old");

        assertThat(bench.store.parts(spec.key(1)))
                .as("stored under the older epoch")
                .containsExactly("value");
        assertThat(read(here, spec, 1)).isEqualTo("new");
        tick(there);
        assertThat(read(there, spec, 1)).isEqualTo("new");
    }

    /** The store of that load is accepted, which proves nothing here: it is one under the older epoch. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void letsReadersOfThisNodeShareNoLoadThatBeganBefore(Consistency consistency) throws Exception {
        CacheSpec<String> spec = Workbench.spec(consistency);
        GatedLoader<String> loader = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> here.fetch(spec.key(1), loader));
        loader.awaitEntered();
        advance(Duration.ofMillis(1));
        here.update(List.of(spec.all()), this::change);
        advance(Duration.ofMillis(1));

        Caller<String> late = Workbench.call(() -> read(here, spec, 1)).awaitWaiting();
        advance(Duration.ofMillis(1));
        loader.letGo();

        assertThat(early.result()).isEqualTo(consistency == Consistency.AP ? "old" : "new");
        assertThat(late.result()).isEqualTo("new");
        assertThat(read(here, spec, 1)).isEqualTo("new");
    }

    @Test
    void letsStrongReadersOfOtherNodesShareNoLoadThatBeganBefore() throws Exception {
        GatedLoader<String> loader = new GatedLoader<>(database::get);
        Caller<String> early = Workbench.call(() -> there.fetch(cp.key(1), loader));
        loader.awaitEntered();
        here.update(List.of(cp.all()), this::change);

        Caller<String> late = Workbench.call(() -> read(there, cp, 1)).awaitWaiting();
        loader.letGo();

        assertThat(early.result()).isEqualTo("new");
        assertThat(late.result()).isEqualTo("new");
    }

    @Test
    void readsNothingFromTheCacheInsideItsAction() {
        read(here, ap, 1);

        String seen = here.update(List.of(ap.all()), () -> {
            change();
            return read(here, ap, 1);
        });

        assertThat(seen).isEqualTo("new");
        assertThat(read(here, CacheSpec.of("other", String.class), 1)).isEqualTo("new");
    }

    @Test
    void isNoKeyToReadBy() {
        assertThatThrownBy(() -> here.fetch(ap.all(), () -> "never"))
                .isInstanceOf(InvalidCacheKeyException.class)
                .hasMessage("The key of all of 'name' names no entry, so nothing can be read by it. Use it to update or"
                        + " invalidate, and key(…) to read.");
    }

    // Transactions

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void belongsToTheTransaction(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        read(there, spec, 1);
        bench.transactions.begin();

        here.updateInTransaction(List.of(spec.all()), () -> "done");

        assertThat(bench.store.raised()).as("before the commit").isEmpty();
        assertThat(read(here, spec, 1)).as("in the transaction").isEqualTo("old");
        bench.transactions.commit(() -> {
            assertThat(bench.store.clearing()).containsExactly("name");
            change();
        });
        tick(there);
        assertThat(read(there, spec, 1)).isEqualTo("new");
        assertThat(bench.store.clearing()).isEmpty();
    }

    @Test
    void clearsNothingWhenTheTransactionIsRolledBack() {
        read(there, ap, 1);
        for (int i = 0; i < 100; i++) {
            bench.transactions.begin();
            here.updateInTransaction(List.of(ap.all(), ap.key(2)), () -> "done");
            bench.transactions.rollback();
        }
        tick(here);
        tick(there);

        assertThat(bench.store.raised()).isEmpty();
        assertThat(there.fetch(ap.key(1), () -> "never")).isEqualTo("old");
    }

    @Test
    void clearsWhenNobodyKnowsWhatBecameOfTheCommit() {
        read(here, ap, 1);
        bench.transactions.begin();
        here.updateInTransaction(List.of(ap.all()), this::change);
        bench.transactions.lose();

        assertThat(read(here, ap, 1)).isEqualTo("new");
    }

    // Crashes, lost replies, and leases

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isEndedByAnotherNodeIfItsOwnDies(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        read(there, spec, 1);
        prepareAndDie(spec);
        change();
        advance(LEASE.minusMillis(1));
        tick(there);
        assertThat(bench.store.raised()).as("before the end of the lease").isEmpty();

        advance(Duration.ofMillis(1));
        tick(there);

        assertThat(read(there, spec, 1)).isEqualTo("new");
        assertThat(there.fetch(spec.key(1), () -> "never")).isEqualTo("new");
        assertThat(bench.store.clearing()).isEmpty();
        Map<String, Long> epochs = Map.copyOf(bench.store.raised());
        tick(there);
        assertThat(bench.store.raised()).as("raised once").isEqualTo(epochs);
    }

    private void prepareAndDie(CacheSpec<String> spec) {
        List<CacheKey<?>> all = List.of(spec.all());
        here.cluster("default").preparation().prepare(all, all, "token", Leases.of(LEASE), false);
    }

    @Test
    void clearsAgainAfterACommitThatTookLongerThanTheLease() {
        here.update(List.of(ap.all()), () -> {
            advance(LEASE);
            tick(there);
            assertThat(bench.store.raised()).as("raised too early").isNotEmpty();
            read(there, ap, 1);
            return change();
        });
        tick(there);

        assertThat(read(there, ap, 1)).isEqualTo("new");
    }

    @Test
    void goesOnWhenTheReplyOfThePrepareIsLost() {
        read(there, ap, 1);
        bench.store.failNext(Operation.PREPARE_CLEAR, Fault.LOST_REPLY);

        here.update(List.of(ap.all()), this::change);
        tick(there);

        assertThat(read(there, ap, 1)).isEqualTo("new");
        assertThat(bench.store.clearing()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void isEndedAgainWhenTheEndFails(Fault fault) {
        read(there, ap, 1);
        read(there, ap, 2);
        bench.store.failNext(Operation.RAISE_EPOCH, fault);

        here.update(List.of(ap.all()), this::change);

        assertThat(here.undelivered("default")).isEqualTo(1);
        assertThat(read(here, ap, 1)).as("on this node, at once").isEqualTo("new");
        tick(here);
        tick(there);
        assertThat(here.undelivered("default")).isZero();
        assertThat(read(there, ap, 1)).isEqualTo("new");
        assertThat(read(there, ap, 2)).isEqualTo("new");
    }

    @Test
    void isDeliveredBeforeReadersReturnAfterAnOutage() {
        read(there, ap, 1);
        bench.store.away();
        for (int i = 0; i < 20; i++) {
            tick(here);
        }
        assertThat(here.update(List.of(ap.all()), this::change)).isEqualTo("changed");
        assertThat(here.availability("default").state()).isEqualTo(Availability.State.UNAVAILABLE);
        bench.store.back();
        for (int i = 0; i < PROBES; i++) {
            tick(here);
        }
        assertThat(bench.store.raised()).as("raised").isNotEmpty();
        tick(there);
        assertThat(read(there, ap, 1)).isEqualTo("new");
    }

    @Test
    void isRefusedBeforeItsActionForAStrongCache() {
        read(there, cp, 1);
        bench.store.away();
        long before = bench.clock.nanoTime();

        assertThatThrownBy(() -> here.update(List.of(cp.all()), this::change))
                .isInstanceOf(CacheUnavailableException.class)
                .hasMessageStartingWith("The update of all of 'name' is refused: Redis 'default' cannot be");

        assertThat(database).hasValue("old");
        assertThat(bench.clock.nanoTime()).as("refused at once").isEqualTo(before);
    }

    @Test
    void isRepeatedIfAMasterLosesTheEpoch() {
        read(there, ap, 1);
        here.update(List.of(ap.all()), this::change);
        bench.store.loseEpochs();
        tick(here);
        tick(there);

        assertThat(read(there, ap, 1)).isEqualTo("new");
    }

    // Strong caches

    @Test
    void letsNoStrongReaderOfAnyNodeHaveAnOlderValueWhenItHasReturned() {
        read(there, cp, 1);

        here.update(List.of(cp.all()), () -> {
            assertThat(read(there, cp, 1)).as("during the update").isEqualTo("old");
            return change();
        });

        assertThat(read(there, cp, 1)).as("although it has not ticked").isEqualTo("new");
        assertThat(read(here, cp, 1)).isEqualTo("new");
    }

    @Test
    void letsNoStrongReaderHaveAnOlderValueIfItsNodeCannotReadTheEpochs() {
        read(there, cp, 1);
        here.update(List.of(cp.all()), this::change);
        bench.store.fail(Operation.EPOCHS, Fault.LOST_REQUEST);

        assertThat(read(there, cp, 1)).isEqualTo("new");
    }

    @Test
    void letsNoStrongReaderHaveAnOlderValueAlthoughTheEndDidNotArrive() {
        read(there, cp, 1);
        bench.store.failNext(Operation.RAISE_EPOCH, Fault.LOST_REQUEST);

        here.update(List.of(cp.all()), this::change);

        assertThat(bench.store.raised()).isEmpty();
        assertThat(read(there, cp, 1)).isEqualTo("new");
        assertThat(bench.store.parts(cp.key(1)))
                .as("the older one, which nobody reads")
                .containsExactly("value");
        advance(LEASE);
        tick(there);
        assertThat(there.fetch(cp.key(1), () -> "stored")).isEqualTo("stored");
        assertThat(there.fetch(cp.key(1), () -> "never")).isEqualTo("stored");
    }

    @Test
    void keepsStrongReadersFromTheCacheWhileTheyFindAClearing() {
        read(there, cp, 1);
        prepareAndDie(cp);
        assertThat(there.fetch(cp.key(1), () -> "never")).as("not read yet").isEqualTo("old");
        tick(there);

        assertThat(there.fetch(cp.key(1), () -> "loaded")).isEqualTo("loaded");
        assertThat(there.fetch(cp.key(2), () -> "loaded")).isEqualTo("loaded");
        assertThat(bench.store.parts(cp.key(2))).isEmpty();
        assertThat(there.fetch(ap.key(1), () -> "never")).as("AP").isEqualTo("old");
    }

    @Test
    void keepsNoCallerOfAnApCacheWaiting() {
        long before = bench.clock.nanoTime();
        here.update(List.of(ap.all()), this::change);
        here.invalidateAll(ap);
        assertThat(bench.clock.nanoTime()).isEqualTo(before);
    }

    @Test
    void keepsTheInterruptOfACallerThatWaits() {
        Thread.currentThread().interrupt();
        here.update(List.of(cp.all()), this::change);
        assertThat(Thread.interrupted()).isTrue();
    }

    // Together with other entries

    @Test
    void dropsEntriesOfTheUpdateThatWereComputedFromAnOlderValueMeanwhile() {
        CacheSpec<String> views = CacheSpec.of("view", String.class);
        read(there, ap, 1);
        tick(there);

        here.update(List.of(ap.all(), views.key(1)), this::change);
        String view = there.fetch(views.key(1), () -> "view of " + read(there, ap, 1));

        assertThat(view).as("this node has not read the epochs").isEqualTo("view of old");
        advance(SEEN_EVERYWHERE);
        tick(there);
        tick(here);
        assertThat(there.fetch(views.key(1), () -> "view of " + read(there, ap, 1)))
                .isEqualTo("view of new");
        assertThat(bench.store.clearing()).isEmpty();
        assertThat(there.fetch(views.key(1), () -> "never")).as("cached again").isEqualTo("view of new");
    }

    @Test
    void leavesNoEntryThatANodeComputesWhoseRoundsFail() {
        CacheSpec<String> views = CacheSpec.of("view", String.class);
        read(there, ap, 1);
        tick(there);
        here.update(List.of(ap.all(), views.key(1)), this::change);
        advance(SEEN_EVERYWHERE);
        tick(here);

        assertThat(read(there, ap, 1)).as("outside of a load").isEqualTo("old");
        assertThat(there.fetch(views.key(1), () -> "view of " + read(there, ap, 1)))
                .isEqualTo("view of new");
    }

    @Test
    void letsNoStrongReaderOfAnEntryOfTheUpdateHaveAValueThatIsComputedFromAnOlderOne() {
        CacheSpec<String> views = CacheSpec.of("view", String.class).withOptions(cp.options());
        read(there, ap, 1);
        tick(there);

        here.update(List.of(ap.all(), views.key(1)), this::change);

        assertThat(there.fetch(views.key(1), () -> "view of " + read(there, ap, 1)))
                .isEqualTo("view of new");
    }

    @Test
    void endsTwiceAfterALateCommitToo() {
        CacheSpec<String> views = CacheSpec.of("view", String.class);
        bench.transactions.keepConnection();
        here.update(List.of(ap.all(), views.key(1)), () -> "not committed");
        tick(there);
        read(there, ap, 1);
        change();
        bench.transactions.giveBackConnection();
        tick(here);

        assertThat(there.fetch(views.key(1), () -> "view of " + read(there, ap, 1)))
                .as("this node has not read the epochs")
                .isEqualTo("view of old");
        advance(SEEN_EVERYWHERE);
        tick(there);
        tick(here);
        assertThat(there.fetch(views.key(1), () -> "view of " + read(there, ap, 1)))
                .isEqualTo("view of new");
        assertThat(bench.store.clearing()).isEmpty();
    }

    @Test
    void keepsEntriesOfTheUpdateFromBeingStoredIfItsNodeDies() {
        CacheSpec<String> views = CacheSpec.of("view", String.class);
        read(there, ap, 1);
        here.update(List.of(ap.all(), views.key(1)), this::change);
        there.fetch(views.key(1), () -> "view of " + read(there, ap, 1));
        assertThat(bench.store.parts(views.key(1))).as("not stored").doesNotContain("value");

        advance(LEASE);
        there.fetch(views.key(1), () -> "view of " + read(there, ap, 1));
        assertThat(bench.store.parts(views.key(1)))
                .as("longer than the clearing")
                .doesNotContain("value");
        tick(there);
        advance(PrefixClearing.REPAIR);
        assertThat(there.fetch(views.key(1), () -> "view of " + read(there, ap, 1)))
                .isEqualTo("view of new");
    }

    @Test
    void endsTwiceWithSeveralHashesOfEpochs() {
        bench.store.inParts(3);
        EasyCacheEngine a = bench.node();
        EasyCacheEngine b = bench.node();
        tick(a);
        tick(b);
        for (int id = 0; id < 3; id++) {
            read(b, ap, id);
        }
        a.update(List.of(ap.all()), this::change);
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(3);
        assertThat(bench.store.clearing()).as("stays until the second end").containsExactly("name");
        tick(b);
        for (int id = 0; id < 3; id++) {
            assertThat(read(b, ap, id)).isEqualTo("new");
        }

        advance(SEEN_EVERYWHERE);
        tick(a);

        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(6);
        assertThat(bench.store.clearing()).isEmpty();
        tick(a);
        assertThat(bench.store.count(Operation.RAISE_EPOCH)).isEqualTo(6);
    }

    @Test
    void isEndedInTheOtherHashesIfOneIsAway() {
        bench.store.inParts(3);
        EasyCacheEngine a = bench.node();
        EasyCacheEngine b = bench.node();
        tick(a);
        tick(b);
        for (int id = 0; id < 3; id++) {
            read(b, ap, id);
        }
        bench.store.away(1);

        a.update(List.of(ap.all()), this::change);
        bench.store.back(1);
        tick(b);

        assertThat(read(b, ap, 0)).isEqualTo("new");
        assertThat(read(b, ap, 2)).isEqualTo("new");
        assertThat(a.undelivered("default")).isEqualTo(1);
        tick(a);
        tick(b);
        assertThat(read(b, ap, 1)).isEqualTo("new");
    }

    @Test
    void clearsSeveralClustersInOneUpdate() {
        FaultyCacheStore trade = new FaultyCacheStore(bench.clock::millis);
        EasyCacheEngine a =
                bench.builder(new JacksonValueCodec()).store("trade", trade).buildStopped();
        CacheSpec<String> orders = CacheSpec.of("order", String.class).withClusterId("trade");
        read(a, ap, 1);
        read(a, orders, 1);

        a.update(List.of(ap.all(), orders.all()), this::change);

        assertThat(read(a, ap, 1)).isEqualTo("new");
        assertThat(read(a, orders, 1)).isEqualTo("new");
        advance(SEEN_EVERYWHERE);
        tick(a);
        a.cluster("trade").workers().forEach(RecoveryWorker::tick);
        assertThat(bench.store.clearing()).isEmpty();
        assertThat(trade.clearing()).isEmpty();
    }
}
