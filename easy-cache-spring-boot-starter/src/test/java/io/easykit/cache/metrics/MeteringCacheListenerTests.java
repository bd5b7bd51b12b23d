package io.easykit.cache.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.cache.Availability.State;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Hit;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.CacheSpec;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MeteringCacheListenerTests {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final MeteringCacheListener listener = new MeteringCacheListener(registry);
    private final CacheKey<String> key =
            CacheSpec.of("user", String.class).withClusterId("trade").key(1);

    @ParameterizedTest
    @CsvSource({"FRESH,hit", "NEAR,near", "STALE,stale", "LOCAL,local", "EXPIRED,expired"})
    void countsHits(Hit hit, String result) {
        listener.onHit(key, hit);
        listener.onHit(key, hit);
        assertThat(count("easycache.requests", result)).isEqualTo(2);
    }

    @Test
    void countsMisses() {
        listener.onMiss(key);
        assertThat(count("easycache.requests", "miss")).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"STORED,stored", "REJECTED,rejected", "NOT_STORED,not_stored", "FAILED,failed"})
    void timesLoads(Load load, String result) {
        listener.onLoad(key, Duration.ofMillis(30), load);
        assertThat(registry.get("easycache.loads")
                        .tags("prefix", "user", "cluster", "trade", "result", result)
                        .timer()
                        .totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(30);
    }

    @Test
    void timesWaits() {
        listener.onWait(key, Duration.ofMillis(30));
        listener.onWait(key, Duration.ofMillis(10));
        assertThat(registry.get("easycache.waits")
                        .tags("prefix", "user", "cluster", "trade")
                        .timer()
                        .totalTime(TimeUnit.MILLISECONDS))
                .isEqualTo(40);
    }

    @Test
    void countsChangesOfACluster() {
        listener.onAvailability("trade", State.UNAVAILABLE);
        listener.onAvailability("trade", State.AVAILABLE);
        listener.onAvailability("trade", State.UNAVAILABLE);
        assertThat(registry.get("easycache.changes")
                        .tags("cluster", "trade", "state", "unavailable")
                        .counter()
                        .count())
                .isEqualTo(2);
    }

    @Test
    void countsInvalidations() {
        listener.onInvalidation(key, null);
        listener.onInvalidation(key, null);
        listener.onInvalidation(key, new IllegalStateException());
        assertThat(count("easycache.invalidations", "acknowledged")).isEqualTo(2);
        assertThat(count("easycache.invalidations", "failed")).isEqualTo(1);
    }

    @Test
    void countsUnreadableValues() {
        listener.onUnreadable(key);
        assertThat(registry.get("easycache.unreadable")
                        .tags("prefix", "user", "cluster", "trade")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void showsEachMasterOfAClusterFromItsFirstChangeOn() {
        listener.onMasterAvailability("trade", "slots 0-5460", State.UNAVAILABLE);
        assertThat(available("slots 0-5460")).isZero();

        listener.onMasterAvailability("trade", "slots 0-5460", State.AVAILABLE);
        assertThat(available("slots 0-5460")).isEqualTo(1);
    }

    @Test
    void showsNoMasterWithFormerSlots() {
        listener.onMasterAvailability("trade", "slots 0-5460", State.AVAILABLE);
        listener.onMasterAvailability("trade", "slots 5461-10922", State.UNAVAILABLE);
        listener.onMasterAvailability("other", "slots 0-5460", State.AVAILABLE);

        listener.onMasters("trade", Set.of("slots 0-4095", "slots 5461-10922"));

        assertThat(registry.find("easycache.master.available").gauges())
                .extracting(gauge ->
                        gauge.getId().getTag("cluster") + " " + gauge.getId().getTag("master"))
                .containsExactlyInAnyOrder("trade slots 5461-10922", "other slots 0-5460");
        listener.onMasterAvailability("trade", "slots 0-5460", State.UNAVAILABLE);
        assertThat(available("slots 0-5460")).isZero();
    }

    @Test
    void leavesNoGaugeToTheNextContextOfTheSameRegistry() {
        listener.onMasterAvailability("trade", "slots 0-5460", State.AVAILABLE);
        listener.destroy();
        MeteringCacheListener next = new MeteringCacheListener(registry);
        next.onMasterAvailability("trade", "slots 0-5460", State.UNAVAILABLE);
        assertThat(available("slots 0-5460")).isZero();

        next.onMasterAvailability("trade", "slots 0-5460", State.AVAILABLE);
        assertThat(available("slots 0-5460")).isEqualTo(1);
    }

    private double available(String slots) {
        return registry.get("easycache.master.available")
                .tags("cluster", "trade", "master", slots)
                .gauge()
                .value();
    }

    private double count(String meter, String result) {
        return registry.get(meter)
                .tags("prefix", "user", "cluster", "trade", "result", result)
                .counter()
                .count();
    }
}
