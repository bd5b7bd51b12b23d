package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.UnknownClusterException;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class UpdateTests {

    private static final Duration LEASE = Workbench.ap().options().updateLease();

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final EasyCacheEngine elsewhere = bench.node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final CacheKey<String> ap = Workbench.ap().key(1);
    private final CacheKey<String> cp = Workbench.cp().key(2);

    private void pass(Duration time) {
        bench.clock.advance(time);
        cache.cluster("default").workers().forEach(RecoveryWorker::tick);
    }

    private void change() {
        database.set("new");
    }

    /** The reader has read the old value, then all of the update happens, then the reader stores. */
    private void race(Consistency consistency, Runnable update) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key("race");
        Held store = bench.store.hold(Operation.STORE);
        Caller<String> reader = Workbench.call(() -> cache.fetch(key, database::get));
        store.awaitReached();
        update.run();
        store.release();
        assertThat(reader.result()).isEqualTo(consistency == Consistency.AP ? "old" : "new");
        assertThat(elsewhere.fetch(key, database::get)).isEqualTo("new");
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void endsWithTheNewValueWhenItOvertakesALoad(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key("race");
        race(
                consistency,
                () -> elsewhere.update(List.of(key), () -> {
                    change();
                    return null;
                }));
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void endsWithTheNewValueWhenATransactionOvertakesALoad(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key("race");
        race(consistency, () -> {
            bench.transactions.begin();
            elsewhere.update(List.of(key), () -> null);
            bench.transactions.commit(this::change);
        });
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void endsWithTheNewValueWhenALoadReadsDuringTheCommit(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key("race");
        elsewhere.update(List.of(key), () -> {
            assertThat(cache.fetch(key, database::get)).isEqualTo("old");
            change();
            return null;
        });
        assertThat(cache.fetch(key, database::get)).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void endsWithTheNewValueWhenItEndsDuringALoadThatBeganInIt(Consistency consistency) throws Exception {
        CacheKey<String> key = Workbench.spec(consistency).key("race");
        GatedLoader<String> loader = new GatedLoader<>(database::get);
        AtomicReference<Caller<String>> reader = new AtomicReference<>();
        elsewhere.update(List.of(key), () -> {
            reader.set(Workbench.call(() -> cache.fetch(key, loader)));
            loader.awaitEntered();
            change();
            return null;
        });
        loader.letGo();
        assertThat(reader.get().result()).isEqualTo("old");
        assertThat(cache.fetch(key, database::get)).isEqualTo("new");
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("new");
    }

    @Test
    void isPreparedBeforeTheActionAndEndedAfterIt() {
        cache.fetch(cp, database::get);
        assertThat(cache.<String, RuntimeException>update(List.of(cp), () -> {
                    assertThat(bench.store.parts(cp)).containsExactly("intents");
                    assertThat(bench.store.count(Operation.INVALIDATE)).isZero();
                    return "result";
                }))
                .isEqualTo("result");
        assertThat(bench.store.parts(cp)).isEmpty();
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isEndedForItsKeysAlsoIfTheActionChangesTheCollectionOfThem(boolean inTransaction) {
        cache.fetch(ap, database::get);
        List<CacheKey<String>> keys = new ArrayList<>(List.of(ap));
        Action<String, RuntimeException> action = () -> {
            keys.clear();
            change();
            return null;
        };

        if (inTransaction) {
            cache.updateInTransaction(keys, action);
        } else {
            cache.update(keys, action);
        }

        assertThat(cache.fetch(ap, database::get)).isEqualTo("new");
        assertThat(cache.fetch(ap, () -> "never")).isEqualTo("new");
    }

    @Test
    void isEndedAfterAFailureWhichReachesTheCallerAsItIs() {
        cache.fetch(cp, database::get);
        Exception failure = new Exception("constraint");
        Throwable caught = catchThrowable(() -> cache.update(List.of(cp), () -> {
            throw failure;
        }));
        assertThat(caught).isSameAs(failure);
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void isRepairedByItsLeaseAfterACrash() {
        cache.fetch(ap, () -> "old");
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        elsewhere.update(List.of(ap), () -> null);
        assertThat(cache.fetch(ap, () -> "new")).isEqualTo("old");
        bench.clock.advance(ap.spec().options().updateLease());
        assertThat(cache.fetch(ap, () -> "new")).isEqualTo("new");
    }

    @Test
    void letsReadersWaitShortlyForItsEndThenLoadBesideIt() {
        List<Long> waited = new ArrayList<>();
        elsewhere.update(List.of(cp), () -> {
            long startedAt = bench.clock.nanoTime();
            assertThat(cache.fetch(cp, database::get)).isEqualTo("old");
            waited.add(bench.clock.nanoTime() - startedAt);
            return null;
        });
        assertThat(waited).containsExactly(Duration.ofMillis(50).toNanos());
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void letsReadersLoadAsSoonAsItEnded() throws Exception {
        GatedLoader<String> commit = new GatedLoader<>(() -> "done");
        Caller<String> update = Workbench.call(() -> elsewhere.update(List.of(cp), commit::load));
        commit.awaitEntered();
        bench.clock.onPause(() -> {
            change();
            commit.letGo();
            try {
                update.result();
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        assertThat(cache.fetch(cp, database::get)).isEqualTo("new");
        assertThat(bench.store.parts(cp)).containsExactly("value");
    }

    @Test
    void isPreparedBeforeTheCommitAndEndedAfterIt() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        cache.updateInTransaction(List.of(cp), () -> null);
        assertThat(bench.store.parts(cp)).containsExactly("value");
        bench.transactions.commit(() -> {
            assertThat(bench.store.parts(cp)).containsExactly("intents");
            change();
        });
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    /** The database answers no more, and carries out the commit later. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void staysPreparedForItsLeaseWhenNobodyKnowsWhatBecameOfTheCommit(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key(1);
        cache.fetch(key, database::get);
        bench.transactions.begin();
        cache.updateInTransaction(List.of(key), () -> null);
        bench.transactions.lose();
        pass(LEASE.minusSeconds(1));
        assertThat(elsewhere.fetch(key, database::get)).isEqualTo("old");

        change();

        assertThat(elsewhere.fetch(key, database::get)).isEqualTo("new");
        pass(Duration.ofSeconds(1));
        assertThat(bench.store.parts(key)).isEmpty();
        assertThat(elsewhere.fetch(key, database::get)).isEqualTo("new");
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("new");
    }

    @Test
    void endsOnceMoreIfAnInnerCommitMayBeDoneLater() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        bench.transactions.beginInner();
        cache.updateInTransaction(List.of(cp), () -> {
            bench.transactions.loseInner();
            return null;
        });
        assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("old");
        assertThat(bench.store.parts(cp)).containsExactly("value");
        change();

        pass(MarkRenewals.LATE);

        assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("new");
        bench.transactions.rollback();
    }

    /** A manager may report a rollback for it, and a statement has no transaction. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void endsOnceMoreIfItsWorkMayBeDoneLater(boolean inTransaction) {
        cache.fetch(cp, database::get);
        IllegalStateException failure = new IllegalStateException("no answer");
        Action<Void, RuntimeException> fail = () -> {
            throw failure;
        };
        if (inTransaction) {
            bench.transactions.begin();
            cache.updateInTransaction(List.of(cp), () -> null);
            assertThatThrownBy(() -> bench.transactions.commit(fail::run)).isSameAs(failure);
        } else {
            assertThatThrownBy(() -> cache.update(List.of(cp), fail)).isSameAs(failure);
        }
        assertThat(elsewhere.fetch(cp, database::get)).isEqualTo("old");
        change();

        pass(MarkRenewals.LATE);

        assertThat(elsewhere.fetch(cp, database::get)).isEqualTo("new");
    }

    @Test
    void isEndedWhenTheCommitFails() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        cache.updateInTransaction(List.of(cp), () -> null);
        IllegalStateException failure = new IllegalStateException("constraint");
        assertThatThrownBy(() -> bench.transactions.commit(() -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void belongsToTheCallAndToTheTransactionWhereNobodyKnowsWhichCommitsIt() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        cache.update(List.of(cp), () -> {
            assertThat(bench.store.parts(cp)).containsExactly("intents");
            change();
            return null;
        });
        assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("new");
        bench.transactions.commit(() -> assertThat(bench.store.parts(cp)).containsExactly("intents"));
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isEndedWithTheCallWhenItsTransactionIsRolledBackLater(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency)
                .withOptions(Workbench.spec(consistency).options().toBuilder()
                        .staleWindow(Duration.ZERO)
                        .build())
                .key("elsewhere");
        cache.fetch(key, database::get);
        bench.transactions.begin();
        cache.update(List.of(key), () -> {
            change();
            return null;
        });
        assertThat(outside(() -> elsewhere.fetch(key, database::get))).isEqualTo("new");
        bench.transactions.rollback();
        assertThat(cache.fetch(key, database::get)).isEqualTo("new");
    }

    /** Work in a callback after the commit, on the connection of the transaction that has ended. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void staysPreparedUntilTheConnectionOfAnEndedTransactionIsGivenBack(boolean prepared) {
        RecoveryWorker worker = cache.cluster("default").workers().get(0);
        cache.fetch(cp, database::get);
        bench.transactions.keepConnection();
        if (prepared) {
            cache.update(List.of(cp), () -> null);
        } else {
            cache.invalidate(cp);
        }
        worker.tick();
        assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("old");
        assertThat(bench.store.parts(cp)).containsExactly("intents");

        change();
        bench.transactions.giveBackConnection();
        worker.tick();
        assertThat(bench.store.parts(cp)).isEmpty();
        assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("new");
        assertThat(cache.fetch(cp, database::get)).isEqualTo("new");
        assertThat(bench.store.parts(cp)).containsExactly("value");
    }

    @Test
    void belongsToAnInnerTransactionThatItsActionCommits() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        cache.updateInTransaction(List.of(cp), () -> {
            bench.transactions.beginInner();
            bench.transactions.commitInner(() -> {
                assertThat(bench.store.parts(cp)).containsExactly("intents");
                change();
            });
            assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("new");
            return null;
        });
        int prepared = bench.store.count(Operation.PREPARE);
        bench.transactions.beginInner();
        bench.transactions.commitInner(() -> {});
        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(prepared);
        bench.transactions.rollback();
    }

    /** A callback after the commit of the first one commits the second one, before the first one has ended. */
    @Test
    void endsWithEachOfTheInnerTransactionsThatAreInsideEachOther() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        cache.updateInTransaction(List.of(cp), () -> {
            bench.transactions.commitInner(() -> {
                change();
                bench.transactions.commitInner(
                        () -> assertThat(bench.store.parts(cp)).containsExactly("intents"));
                assertThat(bench.store.parts(cp)).containsExactly("intents");
            });
            assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("new");
            assertThat(bench.store.parts(cp)).containsExactly("value");
            return null;
        });
        bench.transactions.rollback();
    }

    @Test
    void belongsToAnInnerTransactionThatEndsAfterItsAction() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        bench.transactions.beginInner();
        cache.updateInTransaction(List.of(cp), () -> null);
        bench.transactions.commitInner(() -> {
            assertThat(bench.store.parts(cp)).containsExactly("intents");
            change();
        });
        assertThat(outside(() -> elsewhere.fetch(cp, database::get))).isEqualTo("new");
        bench.transactions.rollback();
    }

    @Test
    void staysPreparedForItsLeaseInATransactionWhoseEndIsHidden() {
        cache.fetch(cp, database::get);
        bench.transactions.beginHidden();
        cache.update(List.of(cp), () -> null);
        assertThat(bench.store.parts(cp)).containsExactly("intents");
        assertThat(cache.fetch(cp, database::get)).isEqualTo("old");
        assertThat(bench.store.parts(cp)).containsExactly("intents");
        cache.invalidate(ap);
        assertThat(bench.store.parts(ap)).containsExactly("intents");
        change();
        bench.clock.advance(cp.spec().options().updateLease());
        assertThat(cache.fetch(cp, database::get)).isEqualTo("new");
        assertThat(bench.store.parts(cp)).containsExactly("value");
    }

    @Test
    void isInvalidatedWhenItIsRolledBackSinceAPartMayHaveBeenDoneElsewhere() {
        cache.fetch(cp, database::get);
        rollBack(cp);
        assertThat(bench.store.parts(cp)).isEmpty();
        assertThat(bench.store.count(Operation.PREPARE)).isZero();
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);
    }

    @Test
    void doesNotEmptyAHotKeyInAStormOfRollbacks() {
        RecoveryWorker worker = cache.cluster("default").workers().get(0);
        rollBack(cp);
        cache.fetch(cp, database::get);
        for (int i = 0; i < 1_000; i++) {
            rollBack(cp);
        }
        assertThat(cache.fetch(cp, () -> "never")).isEqualTo("old");
        worker.tick();
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);

        bench.clock.advance(RolledBackUpdates.INTERVAL);
        change();
        worker.tick();
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(2);
        assertThat(cache.fetch(cp, database::get)).isEqualTo("new");

        bench.clock.advance(RolledBackUpdates.INTERVAL);
        worker.tick();
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(2);
        rollBack(cp);
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(3);
    }

    /** The second update has written without a transaction, and its invalidation is held back. */
    @ParameterizedTest
    @EnumSource(Consistency.class)
    void isSeenTwoSecondsLaterIfItIsRolledBackShortlyAfterAnotherOneAndAPartWasDoneElsewhere(Consistency consistency) {
        CacheKey<String> key = Workbench.spec(consistency).key("part");
        RecoveryWorker worker = cache.cluster("default").workers().get(0);
        rollBack(key);
        assertThat(cache.fetch(key, database::get)).isEqualTo("old");
        bench.clock.advance(Duration.ofMillis(200));
        change();
        rollBack(key);
        worker.tick();
        assertThat(cache.fetch(key, () -> "never")).isEqualTo("old");
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("old");

        // The round of the worker that follows the interval.
        bench.clock.advance(Duration.ofSeconds(2));
        worker.tick();
        assertThat(cache.fetch(key, database::get)).isEqualTo("new");
        assertThat(elsewhere.fetch(key, () -> "never")).isEqualTo("new");
    }

    @Test
    void dropsALocalValueAlsoIfItsInvalidationIsHeldBack() {
        bench.cutOff(cache);
        rollBack(ap);
        assertThat(cache.fetch(ap, database::get)).isEqualTo("old");
        assertThat(cache.fetch(ap, () -> "never")).isEqualTo("old");
        change();
        rollBack(ap);
        assertThat(cache.fetch(ap, database::get)).isEqualTo("new");
    }

    @Test
    void neverRaisesAnEpochForRollbacks() {
        EasyCacheEngine small = bench.builder(new JacksonValueCodec())
                .degraded(new DegradedOptions(
                        Duration.ofSeconds(5),
                        32,
                        DegradedOptions.CpReads.BYPASS,
                        DegradedOptions.CpUpdates.PROCEED,
                        DegradedOptions.ApUpdates.PROCEED,
                        3))
                .buildStopped();
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        for (int i = 0; i < 100; i++) {
            CacheKey<String> key = Workbench.cp().key(i);
            bench.transactions.begin();
            small.updateInTransaction(List.of(key), () -> null);
            bench.transactions.rollback();
        }
        assertThat(small.undelivered("default")).isEqualTo(3);
        assertThat(small.cluster("default").pending().takeOverflowed(hash -> true))
                .isEmpty();
    }

    private void rollBack(CacheKey<String> key) {
        bench.transactions.begin();
        cache.updateInTransaction(List.of(key), () -> null);
        bench.transactions.rollback();
    }

    /** On a thread that takes no part in the transaction. */
    private static <T> T outside(Callable<T> work) {
        try {
            return Workbench.call(work).result();
        } catch (Exception failure) {
            throw new AssertionError(failure);
        }
    }

    @Test
    void takesOneTransactionForAllItsUpdates() {
        bench.transactions.begin();
        cache.updateInTransaction(List.of(cp), () -> null);
        cache.updateInTransaction(List.of(ap, cp), () -> null);
        cache.updateInTransaction(List.of(ap), () -> null);
        bench.transactions.commit(() -> {});
        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(1);
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);
    }

    @Test
    void preparesAtOnceWhatJoinsDuringTheCommit() {
        cache.fetch(ap, () -> "old");
        bench.transactions.begin();
        cache.update(List.of(cp), () -> null);
        bench.transactions.commit(() -> {
            cache.update(List.of(ap), () -> null);
            assertThat(bench.store.parts(ap)).contains("intents");
        });
        assertThat(bench.store.parts(ap)).containsExactly("value", "staleUntil");
    }

    @Test
    void letsItsTransactionReadPastEveryLevel() {
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        cache.updateInTransaction(List.of(cp), () -> null);
        int reads = bench.store.count(Operation.READ);
        assertThat(cache.fetch(cp, () -> "uncommitted")).isEqualTo("uncommitted");
        assertThat(bench.store.count(Operation.READ)).isEqualTo(reads);
        bench.transactions.rollback();
        assertThat(cache.fetch(cp, () -> "again")).isEqualTo("again");
    }

    @Test
    void storesAndSharesNothingThatATransactionReads() throws Exception {
        bench.transactions.begin();
        assertThat(cache.fetch(cp, () -> "snapshot")).isEqualTo("snapshot");
        assertThat(bench.store.parts(cp)).isEmpty();
        assertThat(bench.events.next()).containsExactly("miss", "load NOT_STORED");
        GatedLoader<String> outside = new GatedLoader<>(database::get);
        Caller<String> reader = Workbench.call(() -> cache.fetch(cp, outside));
        outside.awaitEntered();
        assertThat(cache.fetch(cp, () -> "snapshot")).isEqualTo("snapshot");
        outside.letGo();
        assertThat(reader.result()).isEqualTo("old");
        assertThat(cache.fetch(cp, () -> "never")).isEqualTo("old");
        bench.transactions.rollback();
    }

    @Test
    void leavesNothingInTheLocalLevelFromATransaction() {
        bench.cutOff(cache);
        bench.transactions.begin();
        assertThat(cache.fetch(ap, () -> "snapshot")).isEqualTo("snapshot");
        bench.transactions.rollback();
        assertThat(cache.fetch(ap, database::get)).isEqualTo("old");
    }

    @Test
    void isRefusedBeforeTheActionWhenAStrongOneCannotBePrepared() {
        bench.store.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        assertThatThrownBy(() -> cache.update(List.of(ap, cp), () -> {
                    change();
                    return null;
                }))
                .isInstanceOfSatisfying(CacheUnavailableException.class, refused -> assertThat(refused.clusterId())
                        .isEqualTo("default"))
                .hasMessageContaining("is refused")
                .hasMessageContaining("set 'easy-cache.degraded.cp-updates' to proceed")
                .hasMessageContaining(cp.name());
        assertThat(database).hasValue("old");
    }

    @Test
    void isRefusedBeforeTheCommitWhenAStrongOneCannotBePrepared() {
        bench.store.fail(Operation.PREPARE, Fault.LOST_REPLY);
        cache.fetch(cp, database::get);
        bench.transactions.begin();
        cache.updateInTransaction(List.of(cp), () -> null);
        assertThatThrownBy(() -> bench.transactions.commit(this::change)).isInstanceOf(CacheUnavailableException.class);
        assertThat(database).hasValue("old");
        assertThat(bench.store.parts(cp)).isEmpty();
    }

    @Test
    void doesNotRefuseTheCommitIfItIsRefusedBeforeItsAction() {
        bench.store.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        bench.transactions.begin();
        assertThatThrownBy(() -> cache.update(List.of(cp), () -> {
                    throw new AssertionError("must not run");
                }))
                .isInstanceOf(CacheUnavailableException.class);
        bench.transactions.commit(this::change);
        assertThat(database).hasValue("new");
    }

    /** Redis stalled: it executed the preparations, but no reply arrived in time. */
    @Test
    void leavesNothingOfRefusedUpdatesThatWerePrepared() {
        bench.store.fail(Operation.PREPARE, Fault.LOST_REPLY);
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> cache.update(List.of(cp), () -> null))
                    .isInstanceOf(CacheUnavailableException.class);
        }
        bench.store.back();
        cache.cluster("default").workers().get(0).tick();
        assertThat(bench.store.parts(cp)).isEmpty();

        cache.fetch(cp, database::get);
        assertThat(bench.store.parts(cp)).containsExactly("value");
    }

    @Test
    void goesOnWhenAWeakOneCannotBePrepared() {
        cache.fetch(ap, database::get);
        bench.store.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        cache.update(List.of(ap), () -> {
            change();
            return null;
        });
        assertThat(database).hasValue("new");
        assertThat(bench.store.parts(ap)).containsExactly("value", "staleUntil");
    }

    @Test
    void keepsItsResultWhenItsEndCannotBeTold() {
        bench.store.fail(Operation.INVALIDATE, Fault.LOST_REQUEST);
        bench.events.next();
        assertThat(cache.<String, RuntimeException>update(List.of(cp), () -> "result"))
                .isEqualTo("result");
        assertThat(bench.events.next()).containsExactly("not invalidated");
        IllegalStateException failure = new IllegalStateException("constraint");
        assertThatThrownBy(() -> cache.update(List.of(cp), () -> {
                    throw failure;
                }))
                .isSameAs(failure);
    }

    @Test
    void namesTheKnownClustersWhereAKeyIsOfNone() {
        CacheKey<String> lost = Workbench.ap().withClusterId("trade").key(1);
        assertThatThrownBy(() -> cache.update(List.of(lost), () -> {
                    change();
                    return null;
                }))
                .isInstanceOf(UnknownClusterException.class)
                .hasMessageContaining("trade")
                .hasMessageContaining("[default]");
        assertThat(database).hasValue("old");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void isPreparedAfterwardsWhereSeveralKeysAreInvalidated(int count) {
        List<CacheKey<String>> keys = List.of(ap, cp).subList(0, count);
        bench.store.onNext(
                Operation.INVALIDATE,
                () -> keys.forEach(key ->
                        assertThat(bench.store.parts(key).contains("intents")).isEqualTo(count > 1)));
        cache.invalidate(keys);
        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(count > 1 ? 1 : 0);
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);
        keys.forEach(key -> assertThat(bench.store.parts(key)).isEmpty());
    }

    @Test
    void isRepeatedWhereSeveralKeysCannotBePrepared() {
        bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
        cache.invalidate(List.of(ap, cp));
        assertThat(bench.store.count(Operation.INVALIDATE)).isEqualTo(1);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(1);
    }

    @Test
    void endsAPreparationThatTakesLongerThanTheTransactionMay() {
        bench.transactions.setTimeout(Duration.ofSeconds(3));
        List<CacheKey<?>> keys = IntStream.range(0, 1000)
                .<CacheKey<?>>mapToObj(id -> Workbench.cp().key(id))
                .toList();
        everyPrepareTakesASecond();
        bench.transactions.begin();
        cache.updateInTransaction(keys, () -> null);

        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> bench.transactions.commit(() -> {}))
                .withStackTraceContaining("The transaction timed out");
        assertThat(bench.store.count(Operation.PREPARE)).isEqualTo(3);
    }

    private void everyPrepareTakesASecond() {
        bench.store.onNext(Operation.PREPARE, () -> {
            bench.clock.advance(Duration.ofSeconds(1));
            everyPrepareTakesASecond();
        });
    }
}
