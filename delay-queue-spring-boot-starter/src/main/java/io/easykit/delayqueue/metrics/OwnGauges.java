package io.easykit.delayqueue.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Gauges of one application context, removed when it closes. A registry that lives longer, such as that of a parent context,
 * ignores a gauge that it has already, so those of the next context would not be registered.
 */
final class OwnGauges {

    private final MeterRegistry registry;
    private final Set<Gauge> gauges = ConcurrentHashMap.newKeySet();

    OwnGauges(MeterRegistry registry) {
        this.registry = registry;
    }

    void add(Gauge.Builder<?> gauge) {
        gauges.add(gauge.register(registry));
    }

    void remove() {
        gauges.forEach(registry::remove);
        gauges.clear();
    }
}
