package io.easykit.cache.engine;

import static io.easykit.cache.engine.BatchSource.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.DegradedOptions.ApUpdates;
import io.easykit.cache.DegradedOptions.CpReads;
import io.easykit.cache.DegradedOptions.CpUpdates;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches while Redis, or a part of it, is away. */
@Timeout(60)
class BatchOutageTests {

    private static final List<Integer> TEN =
            IntStream.rangeClosed(1, 10).boxed().toList();

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final BatchSource source = new BatchSource();

    @Test
    void withoutRedisARefusedResultIsNotKeptInTheLocalLevel() {
        CacheSpec<String> spec = Workbench.ap();
        bench.cutOff(cache);
        assertThatExceptionOfType(InvalidCacheKeyException.class)
                .isThrownBy(() -> cache.<Object, String, RuntimeException>fetchAll(
                        spec, List.of(1, 2), missing -> Map.of(1, "one", 2L, "two")));
        assertThat(cache.fetch(spec.key(1), () -> "loaded")).isEqualTo("loaded");
        assertThat(cache.fetch(spec.key(2), () -> "loaded")).isEqualTo("loaded");
    }

    @Test
    void withoutRedisAllElementsAreLoadedTogetherAndKeptInTheLocalLevel() {
        CacheSpec<String> spec = Workbench.ap();
        bench.cutOff(cache);
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        bench.events.next();
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(TEN);
        assertThat(bench.events.next()).hasSize(10).containsOnly("hit LOCAL");
    }

    @Test
    void ifRedisGoesAwayInTheMiddleTheLoadedValuesAreReturned() {
        CacheSpec<String> spec = Workbench.ap();
        bench.store.onNext(Operation.STORE, bench.store::away);
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls).containsExactly(TEN);
        bench.store.back();
        assertThat(bench.node().fetchAll(spec, List.of(1), source)).hasSize(1);
    }

    @Test
    void ifRedisGoesAwayBeforeTheFetchEachElementIsLoadedOnce() {
        CacheSpec<String> spec = Workbench.ap();
        bench.store.onNext(Operation.FETCH, bench.store::away);
        assertThat(cache.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));
        assertThat(source.calls.stream().flatMap(List::stream)).containsExactlyInAnyOrderElementsOf(TEN);
        assertThat(source.calls.size()).isLessThanOrEqualTo(2);
    }

    @Test
    void withoutOnePartitionItsElementsAreLoadedTogether() {
        bench.store.inParts(2);
        CacheSpec<String> spec = Workbench.ap();
        EasyCacheEngine here = bench.node();
        here.fetchAll(spec, TEN, source);
        source.calls.clear();
        bench.store.away(1);

        assertThat(here.fetchAll(spec, TEN, source)).containsExactlyEntriesOf(all(TEN, ""));

        assertThat(source.calls).containsExactly(List.of(1, 3, 5, 7, 9));
    }

    @Test
    void failsAStrongBatchWithoutRedisIfThatWasChosen() {
        EasyCacheEngine strict = bench.node(
                new DegradedOptions(Duration.ofSeconds(5), 2, CpReads.FAIL, CpUpdates.REFUSE, ApUpdates.PROCEED, 100));
        bench.store.away();
        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> strict.fetchAll(Workbench.cp(), TEN, source));
        assertThat(source.calls).isEmpty();
        assertThat(cache.fetchAll(Workbench.cp(), TEN, source)).hasSize(10);
        assertThat(source.calls).containsExactly(TEN);
    }
}
