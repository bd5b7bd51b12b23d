package io.easykit.cache.autoconfigure;

import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.EasyCache;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/** Meters of each Redis: {@code easycache.available} (1 or 0) and {@code easycache.undelivered}. */
final class ClusterMeters implements MeterBinder {

    private final EasyCache cache;

    ClusterMeters(EasyCache cache) {
        this.cache = cache;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (String id : cache.clusterIds()) {
            Gauge.builder("easycache.available", cache, all -> available(all, id))
                    .description("Whether the Redis cluster is asked by readers")
                    .tag("cluster", id)
                    .register(registry);
            Gauge.builder("easycache.undelivered", cache, all -> all.undelivered(id))
                    .description("Invalidations that wait for the Redis cluster")
                    .tag("cluster", id)
                    .register(registry);
        }
    }

    private static double available(EasyCache cache, String id) {
        Availability availability = cache.availability(id);
        return availability != null && availability.state() == State.AVAILABLE ? 1 : 0;
    }
}
