package io.easykit.cache.engine;

import static io.easykit.cache.engine.BatchSource.all;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.Reload;
import io.easykit.cache.jackson.JacksonValueCodec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Elements of a batch that are loaded again before they expire. */
class BatchRefreshTests {

    private static final List<Integer> IDS = List.of(1, 2);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final EasyCacheEngine elsewhere = bench.node();
    private final BatchSource source = new BatchSource();
    private final CacheSpec<String> spec = Workbench.ap();
    private final AtomicInteger failures = new AtomicInteger();

    private final BatchLoader<Integer, String, RuntimeException> failing = missing -> {
        failures.incrementAndGet();
        throw new IllegalStateException("no database");
    };

    private static CacheSpec<String> spec(Reload reload) {
        return Workbench.ap()
                .withOptions(Workbench.ap().options().toBuilder().reload(reload).build());
    }

    /** All elements are inside their stale window from now on. */
    private void updateElsewhere() {
        cache.fetchAll(spec, IDS, source);
        source.version = " new";
        bench.node().invalidate(IDS.stream().map(spec::key).toList());
        source.calls.clear();
        bench.events.next();
    }

    @Test
    void returnsStaleValuesInsideTheirWindowAndRefreshesThem() {
        cache.fetchAll(spec, List.of(1, 2, 3), source);
        source.version = " new";
        elsewhere.invalidate(spec.key(2));
        bench.events.next();

        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source)).containsExactlyEntriesOf(all(List.of(1, 2, 3), ""));
        assertThat(bench.events.next()).containsExactlyInAnyOrder("hit FRESH", "hit STALE", "hit FRESH");
        bench.background.runAll();
        assertThat(cache.fetchAll(spec, List.of(1, 2, 3), source).get(2)).isEqualTo("2 new");
        assertThat(source.calls).containsExactly(List.of(1, 2, 3), List.of(2));
    }

    @Test
    void refreshesHitsNearTheirEndTogetherByOneCallInTheBackground() {
        cache.fetchAll(spec, IDS, source);
        source.version = " new";
        bench.clock.advance(spec.options()
                .ttl()
                .minus(spec.options().effectiveRefreshAhead())
                .plusMillis(10));
        assertThat(cache.fetchAll(spec, IDS, source)).containsExactlyEntriesOf(all(IDS, ""));
        assertThat(source.calls).hasSize(1);
        assertThat(bench.background.size()).isEqualTo(1);
        bench.background.runAll();
        assertThat(source.calls).containsExactly(IDS, IDS);
        assertThat(cache.fetchAll(spec, IDS, source)).containsExactlyEntriesOf(all(IDS, " new"));
        assertThat(source.calls).hasSize(2);
    }

    @Test
    void refreshesOnTheCallersThreadIfThatIsChosen() {
        updateElsewhere();
        assertThat(cache.fetchAll(spec(Reload.CALLER), List.of(2, 3, 1), source))
                .containsExactlyEntriesOf(all(List.of(2, 3, 1), " new"));
        assertThat(bench.background.size()).isZero();
        assertThat(source.calls).containsExactly(List.of(2, 3, 1));
    }

    @ParameterizedTest
    @EnumSource(Reload.class)
    void failsAFewTimesInsideTheStaleWindow(Reload reload) {
        updateElsewhere();
        for (int i = 0; i < 700; i++) {
            assertThat(cache.fetchAll(spec(reload), IDS, failing)).containsExactlyEntriesOf(all(IDS, ""));
            bench.background.runAll();
            bench.clock.advance(Duration.ofMillis(1));
        }
        assertThat(failures).hasValueBetween(2, 4);
    }

    @ParameterizedTest
    @EnumSource(Reload.class)
    void leavesItToAnotherNodeInThePauseAfterAFailure(Reload reload) {
        updateElsewhere();
        for (int i = 0; i < 2; i++) {
            assertThat(cache.fetchAll(spec(reload), IDS, failing)).containsExactlyEntriesOf(all(IDS, ""));
            bench.background.runAll();
        }
        assertThat(failures).hasValue(1);
        elsewhere.fetchAll(spec, IDS, source);
        bench.background.runAll();
        assertThat(source.calls).containsExactly(IDS);
        assertThat(cache.fetchAll(spec, IDS, source)).containsExactlyEntriesOf(all(IDS, " new"));
    }

    static Stream<RuntimeException> refusals() {
        return Stream.of(new RejectedExecutionException("full"), new IllegalStateException("broken"));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void leavesItToAnotherReaderIfNoThreadTakesIt(RuntimeException refusal) {
        updateElsewhere();
        EasyCacheEngine full = bench.builder(new JacksonValueCodec())
                .background(task -> {
                    throw refusal;
                })
                .buildStopped();
        assertThat(full.fetchAll(spec, IDS, source)).containsExactlyEntriesOf(all(IDS, ""));
        assertThat(source.calls).isEmpty();
        cache.fetchAll(spec, IDS, source);
        bench.background.runAll();
        assertThat(source.calls).containsExactly(IDS);
    }

    @ParameterizedTest
    @EnumSource(Reload.class)
    void makesNoPauseAfterALoadThatWasAbandoned(Reload reload) {
        updateElsewhere();
        Map<Integer, String> found =
                cache.<Integer, String, LoadAbandonedException>fetchAll(spec(reload), IDS, missing -> {
                    throw new LoadAbandonedException("another key", null);
                });
        assertThat(found).containsExactlyEntriesOf(all(IDS, ""));
        bench.background.runAll();
        cache.fetchAll(spec(reload), IDS, source);
        bench.background.runAll();
        assertThat(source.calls).containsExactly(IDS);
    }
}
