package io.easykit.cache.metrics;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;

/** Meters of the turns of serial caches: {@code easycache.turns} and {@code easycache.turns.queue}. */
public final class SerialMeters implements CacheListener {

    private final MeterRegistry registry;

    public SerialMeters(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void onTurn(CacheKey<?> key, Turn turn, Duration waited, int queued) {
        Tags tags = Tags.of("prefix", key.spec().prefix(), "cluster", key.spec().clusterId());
        Timer.builder("easycache.turns")
                .description("Waits of calls of serial caches for their turn, by result")
                .tags(tags.and("result", turn.name().toLowerCase(Locale.ROOT)))
                .register(registry)
                .record(waited);
        if (queued > 0) {
            DistributionSummary.builder("easycache.turns.queue")
                    .description("Calls that wait for one key of a serial cache, when one more begins to wait")
                    .tags(tags)
                    .register(registry)
                    .record(queued);
        }
    }
}
