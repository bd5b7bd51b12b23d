package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Late invalidations of keys that the store refuses, for example by an ACL, while it answers calls with other keys. */
class RefusedKeysTests extends TwoNodes {

    private static final Duration AGAIN = Duration.ofSeconds(30);

    private final CacheKey<String> refused = Workbench.ap().key("refused");

    @BeforeEach
    void refuse() {
        b.fetch(key, () -> "old");
        b.fetch(refused, () -> "old");
        bench.store.refuse(refused);
    }

    @Test
    void markNothingAndWarnOnceAMinute() {
        try (LogCapture log = LogCapture.of(Availability.class)) {
            a.update(List.of(refused), () -> null);
            tick(a, PROBES + 2);
            assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
            assertThat(a.undelivered("default")).isEqualTo(1);
            assertThat(log.warnings()).singleElement().asString().contains("NOPERM", "allow ~<key-prefix>*");
        }
    }

    @Test
    void keepNoOthersOfThatNode() {
        a.invalidate(refused);
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        a.invalidate(key);
        tick(a, PROBES + 2);
        assertOnlyTheRefusedOneIsPending();
    }

    @Test
    void keepNoOthersOfTheirUpdate() {
        a.update(List.of(refused, key), () -> null);
        tick(a, 1);
        assertOnlyTheRefusedOneIsPending();
    }

    @Test
    void keepNoOthersOfTheTimeBeforeANewConnection() {
        a.invalidate(refused);
        a.invalidate(key);
        b.fetch(key, () -> "what the new master has");
        bench.store.reconnect();
        tick(a, 1);
        assertThat(cluster(a).availability().breakers().get(0).repetition().isDue())
                .isFalse();
        assertOnlyTheRefusedOneIsPending();
    }

    @Test
    void keepNoNodeFromItsRecovery() {
        cutOff();
        a.update(List.of(refused, key), () -> null);
        bench.store.back();
        tick(a, PROBES);
        assertOnlyTheRefusedOneIsPending();
    }

    /** It may have prepared other keys, so its end is delivered although its action did not run. */
    @Test
    void markNothingAfterARefusedCpUpdate() {
        CacheKey<String> cp = Workbench.cp().key("refused");
        assertThatExceptionOfType(CacheUnavailableException.class)
                .isThrownBy(() -> b.update(List.of(cp, key), () -> "never"));
        tick(b, PROBES + 2);
        assertThat(stateOf(b)).isEqualTo(State.AVAILABLE);
        assertThat(bench.store.parts(key)).as("not prepared any more").isEmpty();
    }

    private void assertOnlyTheRefusedOneIsPending() {
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
        assertThat(bench.store.parts(key)).containsExactly("value");
        assertThat(a.undelivered("default")).isEqualTo(1);
    }

    @Test
    void areTriedAgainSeldomUntilTheyAreAllowed() {
        a.invalidate(refused);
        tick(a, 1);
        int before = bench.store.count(Operation.DROP);
        bench.clock.advance(AGAIN.minusMillis(1));
        a.invalidate(refused);
        tick(a, PROBES);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(before);

        bench.clock.advance(Duration.ofMillis(1));
        tick(a, PROBES);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(before + 1);

        bench.store.allow(refused);
        tick(a, PROBES);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(before + 1);
        bench.clock.advance(AGAIN);
        tick(a, 1);
        assertThat(a.undelivered("default")).isZero();
        assertThat(b.fetch(refused, () -> "new")).isEqualTo("new");
    }

    /** Another node may have computed them from an old value of the refused key. */
    @Test
    void dropTheOthersOfTheirUpdatesWhenTheyAreDelivered() {
        CacheKey<String> later = Workbench.ap().key(2);
        for (CacheKey<String> other : List.of(key, later)) {
            a.update(List.of(refused, other), () -> null);
            tick(a, 1);
            b.fetch(other, () -> "computed from the old one");
        }
        bench.store.allow(refused);
        bench.clock.advance(AGAIN);
        tick(a, 1);
        assertThat(bench.store.parts(refused)).isEmpty();
        assertThat(bench.store.parts(key)).isEmpty();
        assertThat(bench.store.parts(later)).isEmpty();
        assertThat(a.undelivered("default")).isZero();
    }

    @Test
    void areKeptIfTheyAreRefusedOnlyWhenTheyAreRepeated() {
        a.invalidate(key);
        b.fetch(key, () -> "what the new master has");
        bench.store.refuse(key);
        bench.store.reconnect();
        tick(a, PROBES + 2);
        assertThat(stateOf(a)).isEqualTo(State.AVAILABLE);
        assertThat(a.undelivered("default")).isEqualTo(1);

        bench.store.allow(key);
        bench.clock.advance(AGAIN);
        tick(a, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void costFewCallsIfTheyAreMany() {
        EasyCacheEngine large = bench.builder(new JacksonValueCodec()).buildStopped();
        List<CacheKey<?>> many = new ArrayList<>(IntStream.range(0, 1000)
                .<CacheKey<?>>mapToObj(id -> Workbench.ap().key("refused" + id))
                .toList());
        many.forEach(bench.store::refuse);
        many.add(500, key);
        large.invalidate(many);
        int before = bench.store.count(Operation.DROP);
        tick(large, 1);
        assertThat(bench.store.count(Operation.DROP) - before).isLessThan(50);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
        assertThat(large.undelivered("default")).isEqualTo(1000);
    }

    @Test
    void doNotKeepAnUpdateThatClearsACacheFromItsSecondEnd() {
        a.update(List.of(Workbench.cp().all(), refused), () -> null);
        assertThat(bench.store.clearing()).containsExactly("name");
        tick(a, 1);
        bench.clock.advance(SEEN_EVERYWHERE);
        tick(a, 1);
        assertThat(bench.store.clearing()).isEmpty();
    }

    @Test
    void areTriedOnceMoreAndReportedWhenTheCacheIsStopped() {
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
            stopped.invalidate(refused);
            stopped.stop();
            assertThat(log.warnings()).singleElement().asString().contains("name::refused");
        }
    }

    @Test
    void doNotUseUpTheTimeForUpdatesAfterTheStop() {
        try (LogCapture log = LogCapture.of(StoppedCluster.class)) {
            EasyCacheEngine stopped = bench.builder(new JacksonValueCodec()).build();
            stopped.stop();
            long startedAt = bench.clock.nanoTime();
            stopped.invalidate(refused);
            stopped.invalidate(key);
            assertThat(Duration.ofNanos(bench.clock.nanoTime() - startedAt)).isLessThan(Duration.ofMillis(100));
            assertThat(stopped.undelivered("default")).isEqualTo(1);
            assertThat(log.warnings()).singleElement().asString().contains("name::refused");
        }
    }
}
