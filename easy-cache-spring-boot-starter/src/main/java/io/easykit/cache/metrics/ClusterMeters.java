package io.easykit.cache.metrics;

import io.easykit.boot.DurationTexts;
import io.easykit.cache.Availability;
import io.easykit.cache.Availability.State;
import io.easykit.cache.EasyCache;
import io.easykit.cache.OutboxBacklog;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;

/**
 * Meters of each Redis: {@code easycache.available} and {@code easycache.forced} (1 or 0), {@code easycache.undelivered},
 * {@code easycache.changes}, {@code easycache.outbox.*}. They are registered here, because a {@code MeterBinder} is bound only to
 * registries of its own context. Gauges are removed at the end: a registry of a parent context would ignore those of the next one.
 */
public final class ClusterMeters implements DisposableBean {

    private final MeterRegistry registry;
    private final EasyCache cache;
    private final List<Gauge> gauges = new ArrayList<>();

    public ClusterMeters(MeterRegistry registry, EasyCache cache) {
        this.registry = registry;
        this.cache = cache;
        cache.clusterIds().forEach(this::register);
    }

    private void register(String id) {
        add(
                id,
                Gauge.builder("easycache.available", cache, all -> available(all, id))
                        .description("Whether readers use the Redis cluster (1 or 0)"));
        add(
                id,
                Gauge.builder("easycache.forced", cache, all -> forced(all, id))
                        .description(
                                "Whether an operator has set the state of the Redis cluster on this node (1 or 0)"));
        for (State state : State.values()) {
            changes(registry, id, state);
        }
        add(
                id,
                Gauge.builder("easycache.undelivered", cache, all -> all.undelivered(id))
                        .description("Invalidations not yet delivered to the Redis cluster"));
        outbox(id, "waiting", "Invalidations in the outbox that are not delivered", null, OutboxBacklog::waiting);
        outbox(id, "delivered", "Invalidations in the outbox that are delivered", null, OutboxBacklog::delivered);
        outbox(
                id,
                "oldest",
                "Age of the oldest undelivered invalidation in the outbox",
                "seconds",
                backlog -> DurationTexts.seconds(backlog.oldest()));
    }

    private void add(String id, Gauge.Builder<EasyCache> gauge) {
        gauges.add(gauge.tag("cluster", id).register(registry));
    }

    @Override
    public void destroy() {
        gauges.forEach(registry::remove);
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
            String id, String name, String description, @Nullable String unit, ToDoubleFunction<OutboxBacklog> value) {
        add(
                id,
                Gauge.builder("easycache.outbox." + name, cache, all -> {
                            OutboxBacklog backlog = all.outboxBacklog(id);
                            return backlog == null ? Double.NaN : value.applyAsDouble(backlog);
                        })
                        .description(description)
                        .baseUnit(unit));
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
