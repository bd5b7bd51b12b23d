package io.easykit.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EpochsTests {

    private final Map<String, Long> stored = new HashMap<>();
    private final AtomicInteger looks = new AtomicInteger();
    private final Epochs epochs = new Epochs(() -> {
        looks.incrementAndGet();
        return Map.copyOf(stored);
    });
    private final CacheKey<String> key = Workbench.ap().key(1);

    @Test
    void areLearnedBeforeTheFirstRead() {
        stored.put("name", 7L);
        assertThat(epochs.of(key)).isEqualTo(7);
        assertThat(epochs.of(key)).isEqualTo(7);
        assertThat(looks).hasValue(1);
        epochs.doubt();
        stored.put("name", 8L);
        assertThat(epochs.of(key)).isEqualTo(8);
    }

    @Test
    void areNoughtWherePrefixesWereNeverRaised() {
        assertThat(epochs.of(key)).isZero();
    }

    @Test
    void onlyRise() {
        stored.put("name", 7L);
        epochs.learn();
        stored.put("name", 6L);
        epochs.learn();
        assertThat(epochs.of(key)).isEqualTo(7);
        epochs.learn("name", 5);
        assertThat(epochs.of(key)).isEqualTo(7);
    }

    @Test
    void tellWhichTheStoreHasLost() {
        stored.putAll(Map.of("a", 1L, "b", 2L, "c", 3L));
        epochs.learn();
        stored.remove("a");
        stored.put("b", 1L);
        stored.put("c", 4L);
        assertThat(epochs.lostBy(epochs.learn())).containsExactlyInAnyOrder("a", "b");
    }
}
