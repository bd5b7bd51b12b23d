package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.engine.ListenerContainer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.function.ToDoubleFunction;

/** Gauges of a listener on this node. */
final class HandlerMeters {

    private HandlerMeters() {}

    static void register(MeterRegistry registry, ListenerContainer container) {
        Tags tags = Tags.of(
                "topic", container.endpoint().topic(),
                "listener", container.endpoint().id());
        handlers(registry, container, tags.and("state", "busy"), ListenerContainer::busy);
        handlers(
                registry,
                container,
                tags.and("state", "places"),
                of -> of.isRunning() && !of.isPaused() ? of.endpoint().concurrency() : 0);
        Gauge.builder("delayqueue.oldest.run", container, of -> of.oldestRun().toMillis() / 1000.0)
                .description("How long the longest of the running calls has lasted")
                .baseUnit("seconds")
                .tags(tags)
                .register(registry);
    }

    private static void handlers(
            MeterRegistry registry,
            ListenerContainer container,
            Tags tags,
            ToDoubleFunction<ListenerContainer> number) {
        Gauge.builder("delayqueue.handlers", container, number)
                .description("Calls of a listener on this node: running, and possible at a time unless it is paused")
                .tags(tags)
                .register(registry);
    }
}
