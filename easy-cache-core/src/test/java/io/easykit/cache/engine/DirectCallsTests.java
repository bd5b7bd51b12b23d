package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.CachedValue;
import io.easykit.cache.Consistency;
import io.easykit.cache.FillTicket;
import io.easykit.cache.InvalidCacheKeyException;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Looking without loading, and filling with a ticket. */
class DirectCallsTests {

    private static final byte[] GARBAGE = {'{'};

    private final Workbench bench = new Workbench();
    private final EasyCacheEngine here = bench.node();
    private final EasyCacheEngine there = bench.node();
    private final CacheSpec<String> ap = Workbench.ap();
    private final CacheKey<String> key = ap.key(1);
    private final CacheKey<String> strong = Workbench.cp().key(2);

    @Test
    void storesNothingAfterAnUpdateThatDidNotReachRedis() {
        try (FillTicket<String> ticket = ticket(here.startFill(key))) {
            bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
            bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
            here.update(List.of(key), () -> null);
            assertThat(here.undelivered("default")).isEqualTo(1);

            assertThat(ticket.tryFill("old")).isFalse();
        }
        assertThat(bench.store.parts(key)).doesNotContain("value");
    }

    // Looking

    @Test
    void findsAValueWithItsRemainingLife() {
        here.fetch(key, () -> "value");
        bench.clock.advance(Duration.ofSeconds(10));
        bench.events.next();

        CachedValue<String> found = there.peek(key);

        assertThat(found)
                .isEqualTo(new CachedValue<>("value", ap.options().ttl().minusSeconds(10), false));
        assertThat(bench.events.next()).as("no read").isEmpty();
        assertThat(bench.store.parts(key)).containsExactly("value");
    }

    @Test
    void findsNothingWithoutLoading() {
        assertThat(here.peek(key)).isNull();
        assertThat(bench.store.parts(key)).isEmpty();
        here.fetch(key, () -> null);
        assertThat(here.peek(key)).as("'nothing' is cached").isNotNull().matches(found -> found.value() == null);
    }

    @Test
    void findsAStaleValueInsideItsWindowOnly() {
        CacheOptions options =
                ap.options().toBuilder().staleWindow(Duration.ofSeconds(2)).build();
        CacheKey<String> windowed = ap.withOptions(options).key(1);
        here.fetch(windowed, () -> "old");
        here.invalidate(windowed);

        assertThat(there.peek(windowed)).isEqualTo(new CachedValue<>("old", Duration.ofSeconds(2), true));
        assertThat(here.peek(windowed)).as("on the node of the update").isNull();
        bench.clock.advance(Duration.ofSeconds(2));
        assertThat(there.peek(windowed)).isNull();
    }

    @Test
    void findsNothingOfAClearedCache() {
        here.fetch(key, () -> "old");
        here.invalidateAll(ap);
        assertThat(here.peek(key)).isNull();
    }

    @Test
    void looksAtNothingOfAStrongCacheThatIsBeingCleared() {
        there.fetch(strong, () -> "old");
        here.update(List.of(strong.spec().all()), () -> {
            bench.clock.advance(Epochs.MAX_AGE);
            assertThat(there.peek(strong)).isNull();
            assertThat(there.startFill(Workbench.cp().key(3))).isNull();
            return null;
        });
    }

    @Test
    void findsNothingInsideAnUpdateOfTheEntry() {
        here.fetch(key, () -> "old");
        CachedValue<String> seen = here.update(List.of(key), () -> here.peek(key));
        assertThat(seen).isNull();
    }

    @Test
    void findsWhatTheLocalLevelHasWhileRedisIsAway() {
        bench.cutOff(here);
        assertThat(here.peek(key)).isNull();
        here.fetch(key, () -> "local");
        here.fetch(ap.key(2), () -> "of the same name");

        assertThat(here.peek(key)).isEqualTo(new CachedValue<>("local", null, false));
        assertThat(here.peek(strong)).as("CP").isNull();
        assertThat(here.fetch(ap.key(3), () -> String.valueOf(here.peek(key))))
                .as("inside a load")
                .isEqualTo("null");
    }

    @Test
    void findsNoStaleValueInsideALoad() {
        here.fetch(key, () -> "old");
        here.invalidate(key);
        EasyCacheEngine other = bench.node();

        assertThat(other.peek(key)).isNotNull();
        assertThat(other.fetch(ap.key(2), () -> String.valueOf(other.peek(key))))
                .isEqualTo("null");
    }

    @Test
    void looksAtNothingWhoseInvalidationIsPending() {
        here.fetch(key, () -> "old");
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        here.invalidate(key);
        assertThat(here.undelivered("default")).isEqualTo(1);

        assertThat(here.peek(key)).isNull();
        assertThat(here.startFill(key)).isNull();
    }

    @Test
    void removesAnUnreadableValue() {
        here.fetch(key, () -> "value");
        here.fetch(ap.key(2), () -> "value");
        bench.store.spoil(key, GARBAGE);
        bench.store.spoil(ap.key(2), GARBAGE);
        bench.events.next();

        assertThat(here.peek(key)).isNull();
        assertThat(bench.events.next()).containsExactly("unreadable");
        assertThat(here.startFill(ap.key(2))).isNotNull();
        assertThat(bench.events.next()).containsExactly("unreadable");
    }

    @Test
    void refusesTheKeyOfAllEntries() {
        assertThatThrownBy(() -> here.peek(ap.all())).isInstanceOf(InvalidCacheKeyException.class);
        assertThatThrownBy(() -> here.startFill(ap.all())).isInstanceOf(InvalidCacheKeyException.class);
    }

    @Test
    void doesNothingWhenTheCacheIsSwitchedOff() {
        EasyCacheEngine off = bench.builder(new JacksonValueCodec()).disabled().buildStopped();
        assertThat(off.peek(key)).isNull();
        assertThat(off.startFill(key)).isNull();
    }

    // Filling

    private static <V> FillTicket<V> ticket(@Nullable FillTicket<V> given) {
        assertThat(given).isNotNull();
        return given;
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void storesAValueThatWasLoadedAfterTheTicket(Consistency consistency) {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        try (FillTicket<String> ticket = ticket(here.startFill(entry))) {
            assertThat(ticket.key()).isEqualTo(entry);
            assertThat(ticket.tryFill("value")).isTrue();
            assertThat(ticket.tryFill("other")).as("a second time").isFalse();
        }
        assertThat(there.fetch(entry, () -> "never")).isEqualTo("value");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void storesNothingThatAnUpdateHasOvertaken(Consistency consistency) {
        CacheKey<String> entry = Workbench.spec(consistency).key(1);
        FillTicket<String> ticket = ticket(here.startFill(entry));
        there.update(List.of(entry), () -> null);

        assertThat(ticket.tryFill("old")).isFalse();

        assertThat(there.fetch(entry, () -> "new")).isEqualTo("new");
    }

    @ParameterizedTest
    @EnumSource(Consistency.class)
    void storesNothingThatAnyReaderGetsIfAClearingHasOvertakenIt(Consistency consistency) {
        CacheSpec<String> elsewhere = Workbench.spec(consistency);
        FillTicket<String> late = ticket(here.startFill(elsewhere.key(2)));
        there.invalidateAll(elsewhere);
        late.tryFill("old");
        assertThat(there.fetch(elsewhere.key(2), () -> "new")).isEqualTo("new");

        CacheSpec<String> spec = Workbench.spec(consistency);
        FillTicket<String> ticket = ticket(here.startFill(spec.key(1)));
        here.invalidateAll(spec);

        assertThat(ticket.tryFill("old")).isFalse();

        assertThat(here.fetch(spec.key(1), () -> "new")).isEqualTo("new");
    }

    @Test
    void givesNoTicketForAnEntryThatIsCachedOrLoaded() {
        here.fetch(key, () -> "value");
        assertThat(here.startFill(key)).isNull();

        FillTicket<String> first = ticket(here.startFill(ap.key(2)));
        assertThat(there.startFill(ap.key(2))).isNull();
        first.close();
        assertThat(there.startFill(ap.key(2))).as("after it was closed").isNotNull();
    }

    @Test
    void givesNoTicketDuringAnUpdateOrInsideATransaction() {
        here.update(List.of(key), () -> {
            assertThat(here.startFill(key)).isNull();
            assertThat(there.startFill(key)).isNull();
            return null;
        });
        bench.transactions.begin();
        assertThat(here.startFill(key)).isNull();
        bench.transactions.rollback();
    }

    @Test
    void storesNothingInsideATransactionThatBeganLater() {
        FillTicket<String> ticket = ticket(here.startFill(key));
        bench.transactions.begin();
        assertThat(ticket.tryFill("uncommitted")).isFalse();
        bench.transactions.rollback();
        assertThat(there.startFill(key))
                .as("without waiting for the lease")
                .isNotNull()
                .satisfies(FillTicket::close);
        assertThat(there.fetch(key, () -> "committed")).isEqualTo("committed");
    }

    @Test
    void givesNoTicketAndStoresNothingWhileRedisIsAway() {
        FillTicket<String> ticket = ticket(here.startFill(key));
        bench.store.away();
        assertThat(here.startFill(ap.key(2))).isNull();
        assertThat(ticket.tryFill("value")).isFalse();
        ticket.close();
        assertThat(bench.store.count(Operation.STORE)).isEqualTo(1);
    }

    @Test
    void cachesNothingAsAValue() {
        assertThat(ticket(here.startFill(key)).tryFill(null)).isTrue();
        assertThat(there.fetch(key, () -> "never")).isNull();
    }
}
