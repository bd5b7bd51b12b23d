package io.easykit.cache.engine;

import static io.easykit.cache.engine.BatchSource.all;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.BatchLoader;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.StaleOnErrorOptions;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.engine.Workbench.GatedLoader;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database is dead, and readers of several elements get expired values. */
@Timeout(60)
class BatchStaleOnErrorTests {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration KEPT = Duration.ofSeconds(20);
    private static final List<Integer> THREE = List.of(1, 2, 3);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final BatchSource source = new BatchSource();
    private final List<List<Integer>> trials = new CopyOnWriteArrayList<>();
    private final CacheSpec<String> spec = spec();

    private static CacheSpec<String> spec() {
        CacheSpec<String> spec = Workbench.ap();
        CacheOptions options = spec.options().toBuilder()
                .ttl(TTL)
                .refreshAhead(Duration.ZERO)
                .staleOnError(StaleOnErrorOptions.keptFor(KEPT))
                .build();
        return spec.withOptions(options);
    }

    private Map<Integer, String> fail(Collection<Integer> missing) {
        trials.add(List.copyOf(missing));
        throw new IllegalStateException("no database");
    }

    private void expire(List<Integer> ids) {
        cache.fetchAll(spec, ids, source);
        bench.clock.advance(TTL);
        bench.events.next();
    }

    @Test
    void returnsTheExpiredValueOfEachMissingElement() {
        expire(THREE);
        cache.fetch(spec.key(1), () -> "new");
        bench.events.next();
        assertThat(cache.fetchAll(spec, THREE, this::fail))
                .containsExactly(Map.entry(1, "new"), Map.entry(2, "2"), Map.entry(3, "3"));
        assertThat(trials).containsExactly(List.of(2, 3));
        assertThat(bench.events.next())
                .containsExactlyInAnyOrder("hit FRESH", "load FAILED", "load FAILED", "hit EXPIRED", "hit EXPIRED");
    }

    @Test
    void throwsTheExceptionIfOneElementHasNone() {
        expire(THREE);
        List<Integer> four = List.of(1, 2, 3, 4);
        assertThatThrownBy(() -> cache.fetchAll(spec, four, this::fail)).hasMessage("no database");
        assertThat(bench.events.next()).filteredOn("miss"::equals).hasSize(4);

        assertThatThrownBy(() -> cache.fetchAll(spec, four, this::fail)).hasMessage("no database");
        assertThat(trials).as("the others pause").containsExactly(four, List.of(4));
    }

    @Test
    void pausesEachKeyForASecondAndSharesItWithSingleReads() {
        expire(THREE);
        assertThat(cache.fetch(spec.key(2), () -> fail(List.of(2)).get(2))).isEqualTo("2");
        assertThat(cache.fetchAll(spec, THREE, this::fail)).isEqualTo(all(THREE, ""));
        assertThat(cache.fetchAll(spec, THREE, this::fail)).isEqualTo(all(THREE, ""));
        assertThat(cache.fetch(spec.key(3), () -> "not called")).isEqualTo("3");
        assertThat(trials).containsExactly(List.of(2), List.of(1, 3));

        bench.clock.advance(Duration.ofSeconds(1));
        source.version = " new";
        assertThat(cache.fetchAll(spec, THREE, source)).isEqualTo(all(THREE, " new"));
    }

    @Test
    void triesEachElementOnceForManyReaders() throws Exception {
        expire(THREE);
        CountDownLatch go = new CountDownLatch(1);
        BatchLoader<Integer, String, RuntimeException> slow = missing -> {
            try {
                go.await();
            } catch (InterruptedException stop) {
                throw new AssertionError(stop);
            }
            return fail(missing);
        };
        List<Caller<Map<Integer, String>>> readers = Workbench.call(32, () -> cache.fetchAll(spec, THREE, slow));
        readers.forEach(Caller::awaitWaiting);
        go.countDown();
        for (Caller<Map<Integer, String>> reader : readers) {
            assertThat(reader.result()).isEqualTo(all(THREE, ""));
        }
        assertThat(trials.stream().flatMap(List::stream)).containsExactlyInAnyOrder(1, 2, 3);
    }

    /** As a read of one value does. */
    @Test
    void waitsForALoadThatHasOutlastedItsLease() throws Exception {
        expire(THREE);
        GatedLoader<String> slow = new GatedLoader<>(() -> "new");
        Caller<String> one = Workbench.call(() -> cache.fetch(spec.key(1), slow));
        slow.awaitEntered();
        bench.clock.advance(spec.options().loadLease().plusMillis(1));
        Caller<Map<Integer, String>> several = Workbench.call(() -> cache.fetchAll(spec, List.of(1), this::fail))
                .awaitWaiting();

        slow.letGo();

        assertThat(one.result()).isEqualTo("new");
        assertThat(several.result()).isEqualTo(Map.of(1, "new"));
        assertThat(trials).isEmpty();
    }

    @Test
    void neverReturnsAnInvalidatedElement() {
        expire(THREE);
        assertThatThrownBy(() -> cache.fetchAll(spec, THREE, missing -> {
                    bench.node().invalidate(spec.key(2));
                    return fail(missing);
                }))
                .hasMessage("no database");
        assertThatThrownBy(() -> cache.fetchAll(spec, THREE, this::fail)).hasMessage("no database");
        assertThat(trials).containsExactly(THREE, List.of(2));
    }

    @Test
    void returnsNothingAfterTheAllowedTimeOrInsideALoad() {
        expire(THREE);
        assertThatThrownBy(() -> cache.fetch(spec.key(9), () -> cache.fetchAll(spec, THREE, this::fail)
                        .get(1)))
                .hasMessage("no database");
        bench.clock.advance(KEPT);
        assertThatThrownBy(() -> cache.fetchAll(spec, THREE, this::fail)).hasMessage("no database");
    }

    @Test
    void passesAnError() {
        expire(THREE);
        assertThatThrownBy(() -> cache.fetchAll(spec, THREE, missing -> {
                    throw new AssertionError("defect");
                }))
                .hasMessage("defect");
    }
}
