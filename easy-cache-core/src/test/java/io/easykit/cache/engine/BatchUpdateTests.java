package io.easykit.cache.engine;

import static io.easykit.cache.engine.BatchSource.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches beside updates of their elements. */
@Timeout(60)
class BatchUpdateTests {

    private static final List<Integer> TEN =
            IntStream.rangeClosed(1, 10).boxed().toList();

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final BatchSource source = new BatchSource();

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void returnsAllAndStoresAllButTheElementThatWasInvalidatedMeanwhile(Consistency consistency) {
        CacheSpec<String> spec = Workbench.spec(consistency);
        cache.fetchAll(spec, List.of(2, 4, 6, 8, 10), source);
        source.calls.clear();
        bench.events.next();
        EasyCacheEngine other = bench.node();
        source.during = () -> {
            source.during = () -> {};
            source.version = " new";
            other.invalidate(spec.key(5));
        };

        Map<Integer, String> found = cache.fetchAll(spec, TEN, source);

        Map<Integer, String> expected = all(TEN, "");
        if (consistency == Consistency.CP) {
            expected.put(5, "5 new");
            assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9), List.of(5));
        } else {
            assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9));
        }
        assertThat(found).containsExactlyEntriesOf(expected);
        List<String> events = bench.events.next();
        assertThat(events).filteredOn("load REJECTED"::equals).hasSize(1);
        assertThat(events).filteredOn("load STORED"::equals).hasSize(consistency == Consistency.CP ? 5 : 4);
        assertThat(bench.node().fetchAll(spec, List.of(5), source)).containsExactly(entry(5, "5 new"));
    }

    @Test
    void loadsAnElementUnderAnUpdateAndDoesNotStoreIt() {
        CacheSpec<String> spec = Workbench.cp();
        EasyCacheEngine updater = bench.node();
        updater.update(List.of(spec.key(2)), () -> {
            assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source))
                    .containsExactlyEntriesOf(all(List.of(1, 2, 3), ""));
            return null;
        });
        assertThat(source.calls).containsExactly(List.of(1, 3), List.of(2));
        assertThat(bench.store.parts(spec.key(2))).doesNotContain("value");
        assertThat(bench.store.parts(spec.key(3))).contains("value");
    }

    @Test
    void insideATransactionNothingIsStored() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1), source);
        bench.transactions.begin();
        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source)).hasSize(3);
        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source)).hasSize(3);
        bench.transactions.rollback();
        assertThat(source.calls).containsExactly(List.of(1), List.of(2, 3), List.of(2, 3));
        assertThat(bench.store.parts(spec.key(2))).isEmpty();
    }

    @Test
    void anElementThatTheCallerUpdatesIsLoadedInsideItsUpdateAndNotStored() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1, 2), source);
        source.calls.clear();
        source.version = " uncommitted";
        cache.update(List.of(spec.key(2)), () -> {
            assertThat(cache.fetchAll(spec, List.of(1, 2), source))
                    .containsExactly(entry(1, "1"), entry(2, "2 uncommitted"));
            return null;
        });
        assertThat(source.calls).containsExactly(List.of(2));
    }

    @Test
    void anElementWhoseInvalidationIsUndeliveredIsLoadedAndNotTakenFromTheStore() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1, 2), source);
        source.version = " new";
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        cache.invalidate(spec.key(2));
        assertThat(cache.undelivered(CacheSpec.DEFAULT_CLUSTER)).isEqualTo(1);
        assertThat(cache.fetchAll(spec, List.of(1, 2), source)).containsExactly(entry(1, "1"), entry(2, "2 new"));
        assertThat(source.calls).containsExactly(List.of(1, 2), List.of(2));
    }

    @Test
    void anElementWhoseInvalidationIsDeliveredDuringTheReadIsNotTakenFromTheStore() {
        CacheSpec<String> spec = Workbench.ap();
        cache.fetchAll(spec, List.of(1, 2), source);
        source.version = " new";
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        cache.invalidate(spec.key(2));
        Runnable deliver =
                () -> cache.cluster(CacheSpec.DEFAULT_CLUSTER).workers().forEach(RecoveryWorker::tick);
        bench.store.onNext(Operation.READ, () -> bench.store.onNext(Operation.READ, deliver));

        assertThat(cache.fetchAll(spec, List.of(2, 1), source)).containsExactly(entry(2, "2 new"), entry(1, "1"));
        assertThat(cache.undelivered(CacheSpec.DEFAULT_CLUSTER)).isZero();
        assertThat(source.calls).containsExactly(List.of(1, 2), List.of(2));
    }

    /** Otherwise the transaction would hold its locks for the square of their number. */
    @Test
    @Timeout(40)
    void anUpdateOfManyKeysInATransactionSearchesNoListForEachOfThem() {
        CacheSpec<String> spec = Workbench.ap();
        List<CacheKey<?>> keys =
                IntStream.range(0, 100_000).<CacheKey<?>>mapToObj(spec::key).toList();
        bench.transactions.begin();

        cache.updateInTransaction(keys, () -> "done");
        bench.transactions.commit(() -> {});

        assertThat(bench.store.parts(spec.key(99_999))).doesNotContain("value");
    }
}
