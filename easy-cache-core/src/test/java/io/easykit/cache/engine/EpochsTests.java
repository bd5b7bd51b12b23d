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
    private final Epochs epochs = new Epochs(
            store,
            new ClusterAvailability(
                    "default", CircuitBreakerOptions.defaults(), clock, change -> {}, new CacheListener() {}),
            raises::incrementAndGet,
            clock);
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
