package io.easykit.cache.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.memory.FaultyCacheStore;
import io.easykit.cache.memory.Operation;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EpochsTests {

    private final FaultyCacheStore store = new FaultyCacheStore(() -> 0);
    private final AtomicInteger raises = new AtomicInteger();
    private final ManualClock clock = new ManualClock();
    private final ClusterAvailability availability = new ClusterAvailability(
            "default", CircuitBreakerOptions.defaults(), clock, change -> {}, new CacheListener() {});
    private final Epochs epochs = new Epochs(store, availability, raises::incrementAndGet, clock);
    private final CacheKey<String> key = Workbench.ap().key(1);

    /** The store has these epochs and no others, higher or lower than before. */
    private void storeHas(Map<String, Long> epochs) {
        store.loseEpochs();
        epochs.forEach((prefix, epoch) -> store.raiseEpochs(0, Map.of(prefix, epoch - 1), ""));
    }

    @Test
    void areLearnedBeforeTheFirstRead() {
        storeHas(Map.of("name", 7L));
        assertThat(epochs.of(key)).isEqualTo(7);
        assertThat(epochs.of(key)).isEqualTo(7);
        assertThat(store.count(Operation.EPOCHS)).isEqualTo(1);
        epochs.markUnknown();
        storeHas(Map.of("name", 8L));
        assertThat(epochs.of(key)).isEqualTo(8);
    }

    /** The number of the connection alone makes them unusable: no reader gets in between it and another step. */
    @Test
    void areReadAgainOverEachNewConnection() {
        storeHas(Map.of("name", 7L));
        assertThat(epochs.of(key)).isEqualTo(7);
        storeHas(Map.of("name", 8L));
        assertThat(epochs.known(key)).isEqualTo(new Epochs.Known(7, false));

        availability.of(key).repetition().connected();
        assertThat(epochs.known(key)).isNull();
        assertThat(epochs.of(key)).isEqualTo(8);
        assertThat(epochs.known(key)).isNotNull();
        assertThat(store.count(Operation.EPOCHS)).isEqualTo(2);
    }

    @Test
    void areReadAgainFromNewPartitions() {
        assertThat(epochs.of(key)).isZero();
        store.repartition(2);
        availability.repartition(store.partitions());
        assertThat(epochs.known(key)).isNull();
        assertThat(epochs.of(key)).isZero();
        assertThat(epochs.known(key)).isNotNull();
    }

    @Test
    void reportEachRaiseThatBecomesKnown() {
        storeHas(Map.of("name", 7L));
        epochs.refresh(0);
        assertThat(raises).hasValue(1);
        epochs.refresh(0);
        storeHas(Map.of("name", 6L));
        epochs.refresh(0);
        assertThat(raises).hasValue(1);
        epochs.raise(0, List.of("name"));
        assertThat(raises).hasValue(2);
    }

    @Test
    void areNoughtWherePrefixesWereNeverRaised() {
        assertThat(epochs.of(key)).isZero();
    }

    @Test
    void onlyRise() {
        storeHas(Map.of("name", 7L));
        epochs.refresh(0);
        storeHas(Map.of("name", 6L));
        epochs.refresh(0);
        assertThat(epochs.of(key)).isEqualTo(7);
    }

    @Test
    void tellWhichTheStoreHasLost() {
        storeHas(Map.of("a", 1L, "b", 2L, "c", 3L));
        epochs.refresh(0);
        storeHas(Map.of("b", 1L, "c", 4L));
        assertThat(epochs.refresh(0).missing()).containsExactlyInAnyOrder("a", "b");
    }
}
