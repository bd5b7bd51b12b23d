package io.easykit.cache.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.Consistency;
import io.easykit.cache.EasyCache;
import io.easykit.cache.FillTicket;
import io.easykit.cache.StaleOnErrorOptions;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EasyCacheTesterTests {

    private static final Duration TTL = Duration.ofMinutes(10);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final EasyCacheTester cache = EasyCacheTester.create();
    private final CacheSpec<String> ap = CacheSpec.of("name", String.class);
    private final CacheSpec<String> cp = with(CacheOptions.builder().consistency(Consistency.CP));
    private String database = "old";
    private int loads;

    @AfterEach
    void close() {
        cache.close();
    }

    private CacheSpec<String> with(CacheOptions.Builder options) {
        return ap.withOptions(options.build());
    }

    private String read(CacheSpec<String> spec) {
        return read(cache.cache(), spec);
    }

    private String read(EasyCache node, CacheSpec<String> spec) {
        return node.fetch(spec.key(1), () -> {
            loads++;
            return database;
        });
    }

    private void update(EasyCache node, CacheSpec<String> spec) {
        node.update(List.of(spec.key(1)), () -> database = "new");
    }

    @Test
    void keepsAValueForExactlyItsTtl() {
        read(ap);
        assertThat(cache).hasEntry("name", 1).withValue("old").isFresh().expiresIn(TTL);

        cache.advance(TTL.minusMillis(1));
        assertThat(cache).hasEntry("name", 1).expiresIn(Duration.ofMillis(1));

        cache.advance(Duration.ofMillis(1));
        assertThat(cache).hasNoEntry("name", 1);
        read(ap);
        assertThat(loads).isEqualTo(2);
        assertThat(cache).hasMisses("name", 2).hasLoads("name", 2).hasHits("name", 0);
    }

    @Test
    void refreshesAheadWhenTimeAdvances() {
        read(ap);
        cache.advance(TTL.minus(SECOND));
        database = "new";

        assertThat(read(ap)).isEqualTo("old");
        assertThat(loads).isEqualTo(1);

        cache.runDue();
        assertThat(loads).isEqualTo(2);
        assertThat(cache).hasEntry("name", 1).withValue("new").expiresIn(TTL);
        assertThat(read(ap)).isEqualTo("new");
        assertThat(cache).hasHits("name", 2).hasLoads("name", 2).hasMisses("name", 1);
    }

    @Test
    void returnsAStaleValueInsideTheWindowAfterAnUpdateOfAnotherNode() {
        read(ap);

        update(cache.otherNode(), ap);
        assertThat(cache)
                .hasEntry("name", 1)
                .isStale()
                .withValue("old")
                .expiresIn(ap.options().staleWindow());
        assertThat(read(ap)).isEqualTo("old");
        assertThat(cache.numbers("name").stale()).isEqualTo(1);

        cache.runDue();
        assertThat(read(ap)).isEqualTo("new");
    }

    @Test
    void returnsNoOldValueUnderCp() {
        EasyCache other = cache.otherNode();
        read(cp);
        assertThat(read(other, cp)).isEqualTo("old");
        assertThat(loads).isEqualTo(1);

        update(other, cp);

        assertThat(cache).hasNoEntry("name", 1);
        assertThat(read(cp)).isEqualTo("new");
        assertThat(read(other, cp)).isEqualTo("new");
    }

    @Test
    void keepsNearValuesInVirtualTime() {
        CacheSpec<String> near = with(CacheOptions.builder().nearTtl(SECOND).staleWindow(Duration.ZERO));
        read(near);
        update(cache.otherNode(), near);

        cache.advance(SECOND.minusMillis(1));
        assertThat(read(near)).isEqualTo("old");
        assertThat(cache.numbers("name").near()).isEqualTo(1);

        cache.advance(Duration.ofMillis(1));
        assertThat(read(near)).isEqualTo("new");
    }

    @Test
    void returnsAnExpiredValueIfTheLoadFails() {
        CacheSpec<String> kept =
                with(CacheOptions.builder().staleOnError(StaleOnErrorOptions.keptFor(Duration.ofHours(1))));
        read(kept);
        cache.advance(TTL);
        assertThat(cache).hasEntry("name", 1).isExpired().expiresIn(Duration.ofHours(1));

        String read = cache.cache().fetch(kept.key(1), () -> {
            throw new IllegalStateException("the database is away");
        });

        assertThat(read).isEqualTo("old");
        assertThat(cache.numbers("name").expired()).isEqualTo(1);
        cache.advance(Duration.ofHours(1));
        assertThat(cache).hasNoEntry("name", 1);
    }

    @Test
    void runsALoadWithASoftTimeoutAtOnce() {
        CacheSpec<String> soft = with(CacheOptions.builder()
                .staleOnError(
                        StaleOnErrorOptions.keptFor(Duration.ofHours(1)).withLoadSoftTimeout(Duration.ofMillis(50))));
        read(soft);
        cache.advance(TTL);
        database = "new";

        assertThat(read(soft)).isEqualTo("new");
    }

    @Test
    void waitsForAnotherNodeInVirtualTime() {
        Instant begin = cache.now();
        try (FillTicket<String> ticket = cache.otherNode().startFill(ap.key(1))) {
            assertThat(ticket).isNotNull();

            assertThat(read(ap)).isEqualTo("old");
        }

        Duration waited = Duration.between(begin, cache.now());
        assertThat(waited).isBetween(SECOND, SECOND.plusMillis(200));
    }

    @Test
    void runsASlowLoadWhoseLoaderAdvancesTheTime() {
        EasyCache other = cache.otherNode();

        String read = cache.cache().fetch(cp.key(1), () -> {
            String found = database;
            cache.advance(SECOND.multipliedBy(2));
            update(other, cp);
            return found;
        });

        assertThat(read).isIn("old", "new");
        assertThat(cache.numbers("name").loads().get(Load.REJECTED)).isPositive();
        assertThat(read(cp)).isEqualTo("new");
    }

    @Test
    void refusesToAdvanceInARefresh() {
        read(ap);
        cache.advance(TTL.minus(SECOND));
        boolean[] refused = new boolean[1];
        cache.cache().fetch(ap.key(1), () -> {
            try {
                cache.advance(SECOND);
            } catch (IllegalStateException e) {
                refused[0] = true;
            }
            return "new";
        });

        cache.runDue();

        assertThat(refused[0]).isTrue();
    }

    @Test
    void clearsACache() {
        EasyCache other = cache.otherNode();
        read(cp);
        read(other, cp);

        other.invalidate(List.of(cp.all()));

        assertThat(cache).hasNoEntry("name", 1);
        cache.advance(SECOND.multipliedBy(2));
        database = "new";
        assertThat(read(cp)).isEqualTo("new");
    }

    @Test
    void readsSeveralEntries() {
        Map<Integer, String> found = cache.cache().fetchAll(ap, List.of(1, 2), ids -> Map.of(1, "a"));

        assertThat(found).containsExactly(Map.entry(1, "a"));
        assertThat(cache)
                .hasEntry("name", 1)
                .withValue("a")
                .and()
                .hasEntry("name", 2)
                .withValue(null);
    }

    @Test
    void showsItsTimeInAClock() {
        Instant begin = cache.now();

        cache.advance(Duration.ofDays(1));

        assertThat(cache.clock().instant()).isEqualTo(begin.plus(Duration.ofDays(1)));
        assertThat(cache.clock().withZone(ZoneId.of("Asia/Shanghai")).instant()).isEqualTo(cache.now());
        assertThat(begin).isBetween(Instant.now().minusSeconds(60), Instant.now());
    }

    @Test
    void beginsAnewAfterAReset() {
        EasyCache other = cache.otherNode();
        CacheSpec<String> near = with(CacheOptions.builder().nearTtl(Duration.ofMinutes(5)));
        cache.advance(Duration.ofDays(2));
        cache.cache().fetch(cp.key(2), () -> "x");
        cache.cache().invalidate(List.of(cp.all()));
        read(near);
        cache.faults().storeAway();
        cache.faults().crashAfterNextCommit();

        cache.reset();

        assertThat(cache)
                .hasNoEntry("name", 1)
                .hasNoEntry("name", 2)
                .hasLoads("name", 0)
                .hasMisses("name", 0);
        assertThat(cache.now()).isBetween(Instant.now().minusSeconds(60), Instant.now());
        assertThat(cache.cache().availability("default").forced()).isEmpty();
        database = "new";
        assertThat(read(near)).isEqualTo("new");
        assertThat(cache).hasEntry("name", 1).withValue("new");
        update(cache.cache(), cp);
        assertThat(cache).hasNoEntry("name", 1);
        assertThat(other).isNotSameAs(cache.cache());
    }

    @Test
    void dropsNearValuesAtAReset() {
        CacheSpec<String> near = with(CacheOptions.builder().nearTtl(Duration.ofMinutes(5)));
        read(near);
        read(near);
        assertThat(cache.numbers("name").near()).isEqualTo(1);

        cache.reset();

        database = "new";
        assertThat(read(near)).isEqualTo("new");
    }

    @Test
    void dropsRefreshesThatHaveNotRunAtAReset() {
        read(ap);
        cache.advance(TTL.minus(SECOND));
        read(ap);

        cache.reset();
        cache.advance(SECOND);

        assertThat(loads).isEqualTo(1);
    }

    @Test
    void takesOtherSettingsForEachNode() {
        int[] events = new int[1];
        try (EasyCacheTester listened =
                EasyCacheTester.create(builder -> builder.listener(new io.easykit.cache.CacheListener() {
                    @Override
                    public void onMiss(CacheKey<?> key) {
                        events[0]++;
                    }
                }))) {
            listened.cache().fetch(ap.key(1), () -> "x");
            listened.otherNode().fetch(ap.key(2), () -> "x");

            assertThat(events[0]).isEqualTo(2);
            assertThat(listened).hasMisses("name", 1);
        }
    }

    @Test
    void refusesToGoBack() {
        assertThatThrownBy(() -> cache.advance(SECOND.negated())).isInstanceOf(IllegalArgumentException.class);
    }
}
