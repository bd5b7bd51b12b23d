package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheSpec;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How often the entries of an update are invalidated, and so counted in {@code easycache.invalidations}. */
class InvalidationEventsTests {

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine cache = bench.node();
    private final CacheKey<String> key = Workbench.ap().key(1);

    @BeforeEach
    void begin() {
        tick();
        bench.events.next();
    }

    private void tick() {
        cache.cluster(CacheSpec.DEFAULT_CLUSTER).workers().get(0).tick();
    }

    private List<String> eventsUntilAllIsOver() {
        bench.clock.advance(Duration.ofMinutes(1));
        tick();
        return bench.events.next();
    }

    @Test
    void anUpdateIsOne() {
        cache.update(List.of(key), () -> "done");
        assertThat(eventsUntilAllIsOver()).containsExactly("invalidated");
    }

    @Test
    void anUpdateInATransactionIsOne() {
        bench.transactions.begin();
        cache.invalidateInTransaction(List.of(key));
        bench.transactions.commit(() -> {});
        assertThat(eventsUntilAllIsOver()).containsExactly("invalidated");
    }

    /** The database may still carry out a statement that got no answer. */
    @Test
    void anUpdateThatThrowsIsTwo() {
        assertThatThrownBy(() -> cache.update(List.of(key), () -> {
                    throw new IllegalStateException("no answer");
                }))
                .hasMessage("no answer");
        assertThat(bench.events.next()).containsExactly("invalidated");
        assertThat(eventsUntilAllIsOver()).containsExactly("invalidated");
    }

    @Test
    void anUpdateWhoseCommitGotNoAnswerIsTwo() {
        bench.transactions.begin();
        cache.invalidateInTransaction(List.of(key));
        bench.transactions.lose();
        assertThat(bench.events.next()).containsExactly("invalidated");
        assertThat(eventsUntilAllIsOver()).containsExactly("invalidated");
    }

    @Test
    void anUpdateThatIsCommittedLaterIsTwo() {
        bench.transactions.keepConnection();
        cache.invalidate(key);
        assertThat(bench.events.next()).containsExactly("invalidated");
        bench.transactions.giveBackConnection();
        assertThat(eventsUntilAllIsOver()).containsExactly("invalidated");
    }

    @Test
    void anUpdateOfAnActionInATransactionIsTwo() {
        bench.transactions.begin();
        cache.update(List.of(key), () -> "done");
        assertThat(bench.events.next()).containsExactly("invalidated");
        bench.transactions.commit(() -> {});
        assertThat(eventsUntilAllIsOver()).containsExactly("invalidated");
    }

    @Test
    void aClearingTogetherWithAnEntryIsTwo() {
        CacheKey<String> other = CacheSpec.of("other", String.class).key(1);
        cache.invalidate(List.of(key.spec().all(), other));
        assertThat(bench.events.next()).containsExactly("invalidated", "invalidated");
        assertThat(eventsUntilAllIsOver()).containsExactly("invalidated", "invalidated");
    }
}
