package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.LoadAbandonedException;
import io.easykit.cache.Loader;
import io.easykit.cache.Reload;
import io.easykit.cache.engine.Workbench.Caller;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Fetched;
import io.easykit.cache.store.LoadLease;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** AP readers after an update of another node. */
class StaleWindowTests {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final EasyCacheEngine elsewhere = bench.node();
    private final CacheKey<String> key = Workbench.ap().key(1);
    private final AtomicInteger loads = new AtomicInteger();

    @BeforeEach
    void cacheTheOldValue() {
        cache.fetch(key, () -> "old");
    }

    private String loadNew() {
        loads.incrementAndGet();
        return "new";
    }

    @Test
    void letsNobodyWaitAndLoadsOnce() throws Exception {
        elsewhere.invalidate(key);
        List<Caller<String>> readers = Workbench.call(20, () -> cache.fetch(key, this::loadNew));
        for (Caller<String> reader : readers) {
            assertThat(reader.result()).isEqualTo("old");
        }
        assertThat(loads).hasValue(0);
        assertThat(bench.background.size()).isEqualTo(1);
        bench.background.runAll();
        assertThat(loads).hasValue(1);
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("new");
        assertThat(loads).hasValue(1);
    }

    @Test
    void grantsTheLoadLeaseToAnotherReaderWhenItsHolderCrashed() {
        elsewhere.invalidate(key);
        cache.fetch(key, this::loadNew);
        bench.clock.advance(key.spec().options().loadLease());
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        assertThat(bench.background.size()).isEqualTo(2);
    }

    @Test
    void neverOutlivesTheFirstWindowHoweverManyUpdatesFollowAndLoadsFail() {
        Duration window = Duration.ofMillis(2500);
        CacheSpec<String> spec = Workbench.ap();
        CacheKey<String> wide = spec.withOptions(
                        spec.options().toBuilder().staleWindow(window).build())
                .key(2);
        cache.fetch(wide, () -> "old");
        elsewhere.update(List.of(wide), () -> null);
        long firstUpdate = bench.clock.nanoTime();
        int old = 0;
        for (int second = 0; second < 30; second++) {
            Loader<String, IllegalStateException> failing = () -> {
                throw new IllegalStateException("no database");
            };
            try {
                String read = cache.fetch(wide, failing);
                assertThat(read).isEqualTo("old");
                assertThat(bench.clock.nanoTime() - firstUpdate).isLessThan(window.toNanos());
                old++;
            } catch (IllegalStateException noDatabase) {
                assertThat(noDatabase).hasMessage("no database");
            }
            bench.background.runAll();
            bench.clock.advance(SECOND);
            elsewhere.update(List.of(wide), () -> null);
        }
        assertThat(old).isEqualTo(3);
    }

    @Test
    void loadsForItsCallersWhenTheWindowIsOver() {
        elsewhere.invalidate(key);
        bench.clock.advance(key.spec().options().staleWindow());
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("new");
        assertThat(bench.store.parts(key)).containsExactly("value");
    }

    @Test
    void servesTheOldValueWhileAnUpdateCommits() {
        elsewhere.update(List.of(key), () -> {
            assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
            assertThat(bench.background.size()).isZero();
            return null;
        });
    }

    @Test
    void endsAtOnceWhereTheWindowIsZero() {
        CacheSpec<String> spec = Workbench.ap();
        CacheKey<String> strong = spec.withOptions(
                        spec.options().toBuilder().staleWindow(Duration.ZERO).build())
                .key(3);
        cache.fetch(strong, () -> "old");
        elsewhere.invalidate(strong);
        assertThat(cache.fetch(strong, this::loadNew)).isEqualTo("new");
    }

    @Test
    void losesNoLoadLeaseWhenNoThreadIsFree() {
        elsewhere.invalidate(key);
        bench.background.setFull(true);
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.background.setFull(false);
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.background.runAll();
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("new");
        assertThat(loads).hasValue(1);
    }

    @Test
    void refreshesAheadOfTheEndInTheBackground() {
        Duration ttl = key.spec().options().ttl();
        bench.clock.advance(ttl.minus(SECOND));
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        assertThat(loads).hasValue(0);
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.background.runAll();
        assertThat(loads).hasValue(1);
        bench.clock.advance(SECOND);
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("new");
        assertThat(loads).hasValue(1);
    }

    @Test
    void refreshesAheadOnceInAllNodes() {
        bench.clock.advance(key.spec().options().ttl().minus(SECOND));
        EasyCacheEngine other = bench.node();
        cache.fetch(key, this::loadNew);
        other.fetch(key, this::loadNew);
        bench.background.runAll();
        assertThat(loads).hasValue(1);
    }

    @Test
    void losesNothingWhenNoThreadIsFreeToRefreshAhead() {
        bench.clock.advance(key.spec().options().ttl().minus(SECOND));
        bench.background.setFull(true);
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.background.setFull(false);
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.background.runAll();
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("new");
        assertThat(bench.store.count(Operation.RELEASE_LOAD)).isZero();
    }

    @Test
    void keepsTheValueWhenARefreshFails() {
        bench.clock.advance(key.spec().options().ttl().minus(SECOND));
        cache.fetch(key, () -> {
            throw new IllegalStateException("no database");
        });
        bench.background.runAll();
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.clock.advance(Duration.ofMillis(200));
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.background.runAll();
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("new");
    }

    @Test
    void givesReadersThatWaitedForOneAnswerTheirTurnsSideBySide() throws Exception {
        CacheKey<String> cold = Workbench.ap().key("cold");
        Held fetch = bench.store.hold(Operation.FETCH);
        Caller<String> leader = Workbench.call(() -> cache.fetch(cold, this::loadNew));
        fetch.awaitReached();
        List<Caller<String>> waiting = Workbench.call(20, () -> cache.fetch(cold, this::loadNew));
        waiting.forEach(Caller::awaitWaiting);
        EasyCacheEngine other = bench.node();
        LoadLease lease = ((Fetched.Leased) bench.store.fetch(cold, 0)).lease();
        bench.store.store(
                cold, lease, Envelope.of(Envelope.Kind.VALUE, "\"old\"".getBytes(StandardCharsets.UTF_8)), SECOND);
        other.invalidate(cold);
        int fetches = bench.store.count(Operation.FETCH);
        Held slowest = bench.store.hold(Operation.FETCH);
        fetch.release();
        assertThat(leader.result()).isEqualTo("old");
        slowest.awaitReached();
        await().until(() -> waiting.stream().filter(Caller::isDone).count() == 19);
        slowest.release();
        for (Caller<String> reader : waiting) {
            assertThat(reader.result()).isEqualTo("old");
        }
        assertThat(bench.store.count(Operation.FETCH)).isEqualTo(fetches + 20);
        assertThat(bench.background.size()).isEqualTo(1);
        assertThat(loads).hasValue(0);
    }

    @Test
    void letsOneReaderLoadWhereALoadCannotLeaveItsThread() {
        Loader<String, RuntimeException> bound = new Loader<>() {
            @Override
            public String load() {
                return loadNew();
            }

            @Override
            public @Nullable Loader<String, ?> forBackground() {
                return null;
            }
        };
        elsewhere.invalidate(key);
        assertThat(cache.fetch(key, bound)).isEqualTo("new");
        assertThat(bench.background.size()).isZero();
        bench.clock.advance(key.spec().options().ttl().minus(SECOND));
        assertThat(cache.fetch(key, bound)).isEqualTo("new");
        assertThat(bench.background.size()).isZero();
        assertThat(loads).hasValue(1);
    }

    @Test
    void servesTheOldValueWhereTheLoadOnTheCallersThreadFails() {
        CacheKey<String> bound = Workbench.ap()
                .withOptions(
                        key.spec().options().toBuilder().reload(Reload.CALLER).build())
                .key("bound");
        cache.fetch(bound, () -> "old");
        elsewhere.invalidate(bound);
        assertThat(cache.<String, IllegalStateException>fetch(bound, () -> {
                    throw new IllegalStateException("no database");
                }))
                .isEqualTo("old");
        bench.clock.advance(bound.spec().options().effectiveStaleWindow());
        assertThat(cache.fetch(bound, this::loadNew)).isEqualTo("new");
    }

    @Test
    void dropsALoadThatWasAbandoned() {
        elsewhere.invalidate(key);
        assertThat(cache.<String, LoadAbandonedException>fetch(key, () -> {
                    throw new LoadAbandonedException("another key", null);
                }))
                .isEqualTo("old");
        bench.background.runAll();
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("old");
        bench.background.runAll();
        assertThat(cache.fetch(key, this::loadNew)).isEqualTo("new");
    }
}
