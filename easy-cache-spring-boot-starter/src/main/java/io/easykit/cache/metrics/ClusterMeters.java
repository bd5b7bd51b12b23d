package io.easykit.cache.metrics;

import io.easykit.boot.DurationTexts;
import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.EasyCache;
import io.easykit.cache.OutboxBacklog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Meters of each Redis: {@code easycache.available} and {@code easycache.forced} (1 or 0), {@code easycache.undelivered},
 * {@code easycache.changes}, {@code easycache.outbox.*}.
 */
public final class ClusterMeters implements MeterBinder {

    private final EasyCache cache;

    public ClusterMeters(EasyCache cache) {
        this.cache = cache;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (String id : cache.clusterIds()) {
            Gauge.builder("easycache.available", cache, all -> available(all, id))
                    .description("Whether readers use the Redis cluster (1 or 0)")
                    .tag("cluster", id)
                    .register(registry);
            Gauge.builder("easycache.forced", cache, all -> forced(all, id))
                    .description("Whether an operator has set the state of the Redis cluster on this node (1 or 0)")
                    .tag("cluster", id)
                    .register(registry);
            for (State state : State.values()) {
                changes(registry, id, state);
            }
            Gauge.builder("easycache.undelivered", cache, all -> all.undelivered(id))
                    .description("Invalidations not yet delivered to the Redis cluster")
                    .tag("cluster", id)
                    .register(registry);
            outbox(
                    registry,
                    id,
                    "waiting",
                    "Invalidations in the outbox that are not delivered",
                    null,
                    OutboxBacklog::waiting);
            outbox(
                    registry,
                    id,
                    "delivered",
                    "Invalidations in the outbox that are delivered",
                    null,
                    OutboxBacklog::delivered);
            outbox(
                    registry,
                    id,
                    "oldest",
                    "Age of the oldest undelivered invalidation in the outbox",
                    "seconds",
                    backlog -> DurationTexts.seconds(backlog.oldest()));
        }
    }

    /** Registered with the other meters of the cluster, so that the first change is seen as one. */
    static Counter changes(MeterRegistry registry, String cluster, State state) {
        return Counter.builder("easycache.changes")
                .description("Changes of the state of the Redis cluster on this node, by new state")
                .tags("cluster", cluster, "state", state.name().toLowerCase(Locale.ROOT))
                .register(registry);
    }

    /** NaN on nodes that do not count the outbox. */
    private void outbox(
            MeterRegistry registry,
            String id,
            String name,
            String description,
            @Nullable String unit,
            ToDoubleFunction<OutboxBacklog> value) {
        Gauge.builder("easycache.outbox." + name, cache, all -> {
                    OutboxBacklog backlog = all.outboxBacklog(id);
                    return backlog == null ? Double.NaN : value.applyAsDouble(backlog);
                })
                .description(description)
                .baseUnit(unit)
                .tag("cluster", id)
                .register(registry);
    }

    private static double forced(EasyCache cache, String id) {
        Availability availability = cache.availability(id);
        return availability != null && availability.forced().isPresent() ? 1 : 0;
    }

    private static double available(EasyCache cache, String id) {
        Availability availability = cache.availability(id);
        return availability != null && availability.state() == State.AVAILABLE ? 1 : 0;
    }
}
