package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.Consistency;
import io.easykit.cache.SerialOptions;
import io.easykit.cache.caffeine.CaffeineLocalLevel;
import io.easykit.cache.engine.UpdatePreparation.Leases;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.EntryStore;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Updates of all entries of a prefix, beside batch reads, the near level, serial caches and inner transactions. */
class ClearingFeaturesTests {

    private static final Duration NEAR = Duration.ofMinutes(1);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine here = node();
    private final EasyCacheEngine there = node();
    private final AtomicReference<String> database = new AtomicReference<>("old");
    private final List<List<Integer>> calls = new CopyOnWriteArrayList<>();
    private final CacheSpec<String> cp = Workbench.cp();
    private final CacheSpec<String> near = near(Workbench.ap());

    private EasyCacheEngine node() {
        return bench.builder(new JacksonValueCodec())
                .nearLevels(() -> new CaffeineLocalLevel(100))
                .buildStopped();
    }

    private static CacheSpec<String> near(CacheSpec<String> spec) {
        return spec.withOptions(spec.options().toBuilder().nearTtl(NEAR).build());
    }

    private static CacheSpec<String> serial(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        return spec.withOptions(
                spec.options().toBuilder().serial(SerialOptions.defaults()).build());
    }

    private String read(EasyCacheEngine cache, CacheSpec<String> spec, Object id) {
        return cache.fetch(spec.key(id), database::get);
    }

    private Map<Integer, String> readAll(EasyCacheEngine cache, CacheSpec<String> spec) {
        return cache.fetchAll(spec, List.of(1, 2), source());
    }

    private BatchLoader<Integer, String, RuntimeException> source() {
        return missing -> {
            calls.add(List.copyOf(missing));
            return values(missing);
        };
    }

    private Map<Integer, String> values(Collection<Integer> ids) {
        Map<Integer, String> found = new HashMap<>();
        ids.forEach(id -> found.put(id, database.get()));
        return found;
    }

    private String change() {
        database.set("new");
        return "changed";
    }

    private static void tick(EasyCacheEngine cache) {
        cache.cluster("default").workers().forEach(RecoveryWorker::tick);
    }

    // Batches

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void letsReadersOfThisNodeShareNoBatchThatBeganBefore(Consistency consistency) throws Exception {
        CacheSpec<String> spec = Workbench.spec(consistency);
        GatedLoader<Map<Integer, String>> loader = new GatedLoader<>(() -> values(List.of(1, 2)));
        Caller<Map<Integer, String>> early = Workbench.call(() ->
                here.fetchAll(spec, List.of(1, 2), missing -> loader.loads() == 0 ? loader.load() : values(missing)));
        loader.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));
        here.update(List.of(spec.all()), this::change);
        bench.clock.advance(Duration.ofMillis(1));

        Caller<String> late = Workbench.call(() -> read(here, spec, 1)).awaitWaiting();
        bench.clock.advance(Duration.ofMillis(1));
        loader.letGo();

        String own = consistency == Consistency.AP ? "old" : "new";
        assertThat(early.result()).containsEntry(1, own).containsEntry(2, own);
        assertThat(late.result()).isEqualTo("new");
        assertThat(readAll(here, spec)).containsEntry(1, "new").containsEntry(2, "new");
    }

    @Test
    void keepsStrongBatchesFromTheCacheWhileTheyFindAClearing() {
        readAll(there, cp);
        prepareAndDie(cp);
        database.set("new");
        tick(there);
        calls.clear();

        assertThat(readAll(there, cp)).containsEntry(1, "new").containsEntry(2, "new");
        assertThat(there.fetchAll(cp, List.of(3), source())).containsEntry(3, "new");

        assertThat(calls).containsExactly(List.of(1, 2), List.of(3));
        assertThat(bench.store.parts(cp.key(3))).isEmpty();
        assertThat(readAll(there, Workbench.ap())).as("AP").containsEntry(1, "old");
    }

    private void prepareAndDie(CacheSpec<String> spec) {
        List<CacheKey<?>> all = List.of(spec.all());
        here.cluster("default")
                .preparation()
                .prepare(all, all, "token", Leases.of(spec.options().updateLease()), false);
    }

    @Test
    void letsNoStrongBatchHaveAnOlderValueIfItsNodeCannotReadTheEpochs() {
        readAll(there, cp);
        here.update(List.of(cp.all()), this::change);
        bench.store.fail(Operation.EPOCHS, Fault.LOST_REQUEST);
        int before = bench.store.count(Operation.EPOCHS);

        assertThat(readAll(there, cp)).containsEntry(1, "new").containsEntry(2, "new");
        assertThat(bench.store.count(Operation.EPOCHS) - before)
                .as("asked once for all elements")
                .isEqualTo(1);
    }

    // Near level

    @Test
    void leavesTheNearLevelOfThisNodeAtOnceAndOfOthersWhenTheyHaveReadTheEpochs() {
        read(here, near, 1);
        read(there, near, 1);
        assertThat(read(here, near, 1)).isEqualTo("old");
        tick(there);

        here.update(List.of(near.all()), this::change);

        assertThat(read(here, near, 1)).isEqualTo("new");
        assertThat(read(there, near, 1)).as("not read yet").isEqualTo("old");
        tick(there);
        assertThat(read(there, near, 1)).as("long before the near-ttl").isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void keepsTheNearLevelOutOfUseUntilTheEndIsDelivered(Fault fault) {
        read(here, near, 1);
        bench.store.failNext(Operation.RAISE_EPOCH, fault);

        here.update(List.of(near.all()), this::change);

        assertThat(read(here, near, 1)).isEqualTo("new");
        database.set("newer");
        assertThat(read(here, near, 1)).as("loaded, and kept nowhere").isEqualTo("newer");
        tick(here);
        assertThat(read(here, near, 1)).isEqualTo("newer");
        database.set("never");
        assertThat(read(here, near, 1)).as("kept again").isEqualTo("newer");
    }

    @Test
    void keepsNoValueInTheNearLevelThatWasReadBefore() throws Exception {
        read(there, near, 1);
        Held reading = bench.store.hold(Operation.READ);
        Caller<String> slow = Workbench.call(() -> read(here, near, 1));
        reading.awaitReached();

        here.update(List.of(near.all()), this::change);
        reading.release();

        assertThat(slow.result()).isEqualTo("old");
        assertThat(read(here, near, 1)).isEqualTo("new");
    }

    @Test
    void keepsNoValueInTheNearLevelWhoseNodeHasPreparedAndDidNotRaiseYet() {
        read(here, near, 1);

        here.update(List.of(near.all()), () -> {
            database.set("new");
            assertThat(here.cluster("default").holdsNear(near.key(1))).isFalse();
            return "changed";
        });
    }

    // Serial caches

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void waitsForNoTurnOfASerialCacheAndHasATransactionOfItsOwn(Consistency consistency) throws Exception {
        CacheSpec<String> spec = serial(consistency);
        read(there, spec, 2);
        GatedLoader<String> loader = new GatedLoader<>(database::get);
        Caller<String> slow = Workbench.call(() -> here.fetch(spec.key(1), loader));
        loader.awaitEntered();
        bench.clock.advance(Duration.ofMillis(1));

        here.update(List.of(spec.all()), this::change);
        bench.clock.advance(Duration.ofMillis(1));

        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
        assertThat(read(here, spec, 2)).as("while another key has its turn").isEqualTo("new");
        loader.letGo();
        slow.result();
        assertThat(read(here, spec, 1)).isEqualTo("new");
        assertThat(here.busyKeys()).isZero();
    }

    @Test
    void takesTheTurnsOfTheSingleEntriesThatItNames() {
        CacheSpec<String> spec = serial(Consistency.AP);
        CacheSpec<String> views = CacheSpec.of("view", String.class)
                .withOptions(serial(Consistency.AP).options());

        here.update(List.of(spec.all(), views.key(1)), () -> {
            assertThat(here.busyKeys()).isEqualTo(1);
            return change();
        });

        assertThat(here.busyKeys()).isZero();
        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
    }

    @Test
    void rollsTheTransactionOfASerialCacheBackIfItCannotBePrepared() {
        CacheSpec<String> spec = serial(Consistency.CP);
        bench.store.fail(Operation.PREPARE_CLEAR, Fault.LOST_REQUEST);

        assertThatThrownBy(() -> here.update(List.of(spec.all()), this::change))
                .isInstanceOf(CacheUnavailableException.class);

        assertThat(database).hasValue("old");
        assertThat(bench.transactions.own()).doesNotContain("commit");
    }

    // Inner transactions

    @Test
    void belongsToAnInnerTransactionToo() {
        CacheSpec<String> spec = Workbench.ap();
        read(there, spec, 1);
        bench.transactions.begin();

        here.updateInTransaction(List.of(spec.all()), () -> {
            bench.transactions.beginInner();
            bench.transactions.commitInner(() -> {
                assertThat(bench.store.clearing()).containsExactly("name");
                change();
            });
            return "done";
        });

        assertThat(bench.store.clearing()).as("ended with the inner one").isEmpty();
        tick(there);
        assertThat(read(there, spec, 1)).as("before the outer one ends").isEqualTo("new");
        bench.transactions.rollback();
    }

    /** At the end of the outermost one, also if that takes its own work back. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void waitsOnceForAllCommitsOfOneTransaction(boolean committed) {
        long begun = bench.clock.nanoTime();
        bench.transactions.begin();
        here.updateInTransaction(List.of(cp.all()), () -> {
            for (int i = 0; i < 3; i++) {
                bench.transactions.beginInner();
                bench.transactions.commitInner(this::change);
            }
            return "done";
        });
        here.update(List.of(cp.all()), this::change);
        here.invalidateAll(cp);
        assertThat(bench.clock.nanoTime()).as("before the end").isEqualTo(begun);

        if (committed) {
            bench.transactions.commit(this::change);
        } else {
            bench.transactions.rollback();
        }

        assertThat(Duration.ofNanos(bench.clock.nanoTime() - begun)).isEqualTo(Epochs.SEEN_BY_ALL);
    }

    @Test
    void waitsOnceForTheUpdatesInsideAnother() {
        CacheSpec<String> spec = serial(Consistency.CP);
        long begun = bench.clock.nanoTime();

        here.update(List.of(spec.all()), () -> here.update(List.of(spec.all()), this::change));

        assertThat(bench.transactions.own()).containsExactly("begin", "commit");
        assertThat(Duration.ofNanos(bench.clock.nanoTime() - begun)).isEqualTo(Epochs.SEEN_BY_ALL);
    }

    @Test
    void asksOnlyForClearingsOfStrongCaches() {
        EntryStore silent = (EntryStore) Proxy.newProxyInstance(
                EntryStore.class.getClassLoader(), new Class<?>[] {EntryStore.class}, (proxy, method, arguments) -> {
                    throw new AssertionError(method);
                });
        BatchEntries batch = new BatchEntries(
                new GuardedStore(silent, here.cluster("default").availability(), new RecentInvalidations(bench.clock)),
                here.cluster("default").epochs());

        assertThat(batch.areClearing(List.of(new ReadRequest<>(near.key(1), database::get, value -> true, 0))))
                .isEmpty();
    }
}
