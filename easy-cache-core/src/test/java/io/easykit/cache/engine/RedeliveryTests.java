package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.DegradedOptions;
import io.easykit.cache.Loader;
import io.easykit.cache.jackson.JacksonValueCodec;
import io.easykit.cache.memory.Fault;
import io.easykit.cache.memory.Held;
import io.easykit.cache.memory.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Invalidations that are repeated, because the store may have lost them. */
class RedeliveryTests extends TwoNodes {

    @Test
    void saysAgainWhatWasInvalidatedShortlyBeforeAReconnection() {
        a.invalidate(key);
        bench.store.reconnect();
        b.fetch(key, () -> "what the new master has");
        tick(a, 1);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasInvalidatedShortlyBeforeItWasLostHoweverLongThatTook() {
        a.invalidate(key);
        cutOff();
        bench.clock.advance(Duration.ofHours(1));
        bench.store.back();
        b.fetch(key, () -> "what the new master has");
        tick(a, PROBES);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasDeliveredByTheJournal() {
        bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        a.invalidate(key);
        tick(a, 1);
        assertThat(a.undelivered("default")).isZero();

        b.fetch(key, () -> "what the new master has");
        bench.store.reconnect();
        tick(a, 1);

        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasDeliveredByARecovery() {
        cutOff();
        a.invalidate(key);
        bench.clock.advance(KEEP_RECENT.multipliedBy(2));
        bench.store.back();
        tick(a, PROBES);

        b.fetch(key, () -> "what the new master has");
        bench.store.reconnect();
        tick(a, 1);

        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    @Test
    void saysAgainWhatWasSaidAgain() {
        a.invalidate(key);
        bench.clock.advance(KEEP_RECENT.minusSeconds(1));
        bench.store.reconnect();
        tick(a, 1);
        bench.clock.advance(KEEP_RECENT.minusSeconds(1));
        tick(a, 1);

        b.fetch(key, () -> "what the new master has");
        bench.store.reconnect();
        tick(a, 1);

        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
    }

    /** A view is computed from a user. A reader that comes between their invalidations must not store an old view. */
    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true", "false, true"})
    void deliversTheKeysOfAnUpdateAsAGroup(boolean wasAcknowledged, boolean isFull) {
        CacheKey<String> user = Workbench.cp().key("user");
        CacheKey<String> view = Workbench.cp().key("view");
        List<CacheKey<?>> filler = IntStream.range(0, 150)
                .<CacheKey<?>>mapToObj(id -> Workbench.cp().key(id))
                .toList();
        AtomicReference<String> database = new AtomicReference<>("old");
        Loader<String, RuntimeException> loadView = () -> "view of " + b.fetch(user, database::get);
        EasyCacheEngine large = bench.node(DegradedOptions.defaults());
        List<CacheKey<?>> all = new ArrayList<>(filler);
        all.add(0, view);
        all.add(user);
        if (!wasAcknowledged) {
            bench.store.failNext(Operation.PREPARE, Fault.LOST_REQUEST);
            bench.store.failNext(Operation.INVALIDATE, Fault.LOST_REQUEST);
        }
        database.set("new");
        large.invalidate(all);
        b.fetch(user, () -> "old");
        b.fetch(view, () -> "view of old");
        if (wasAcknowledged) {
            bench.store.reconnect();
        }
        if (isFull) {
            bench.store.fail(Operation.PREPARE, Fault.LOST_REQUEST);
        }

        beforeEachDrop(() -> b.fetch(view, loadView));
        tick(large, 1);

        assertThat(large.undelivered("default")).isZero();
        assertThat(b.fetch(view, loadView)).isEqualTo("view of new");
    }

    private void beforeEachDrop(Runnable action) {
        bench.store.onNext(Operation.DROP, () -> {
            action.run();
            beforeEachDrop(action);
        });
    }

    @Test
    void saysNothingAgainThatIsLongPast() {
        a.invalidate(key);
        bench.clock.advance(KEEP_RECENT.plusMillis(1));
        tick(a, 1);
        bench.store.reconnect();
        tick(a, 1);
        assertThat(bench.store.count(Operation.DROP)).isZero();
    }

    @Test
    void triesAgainWhatCouldNotBeSaidAgain() {
        a.invalidate(key);
        bench.store.reconnect();
        b.fetch(key, () -> "what the new master has");
        bench.store.failNext(Operation.DROP, Fault.LOST_REQUEST);
        tick(a, 2);
        assertThat(b.fetch(key, () -> "new")).isEqualTo("new");
        tick(a, 1);
        assertThat(bench.store.count(Operation.DROP)).isEqualTo(2);
    }

    @Test
    void repeatsNothingAtTheFirstStart() throws Exception {
        Held firstLook = bench.store.hold(Operation.EPOCHS);
        EasyCacheEngine running = bench.builder(new JacksonValueCodec())
                .circuitBreaker(new CircuitBreakerOptions(Duration.ofSeconds(10), 0.5, 10, Duration.ofMillis(5), 2))
                .build();
        firstLook.awaitReached();
        running.update(List.of(key), () -> null);
        running.fetch(key, () -> "new");
        firstLook.release();
        await().until(() -> bench.store.count(Operation.EPOCHS) > 2);
        assertThat(bench.store.count(Operation.DROP)).isZero();
        assertThat(b.fetch(key, () -> "loaded again")).isEqualTo("new");
        running.stop();
    }
}
