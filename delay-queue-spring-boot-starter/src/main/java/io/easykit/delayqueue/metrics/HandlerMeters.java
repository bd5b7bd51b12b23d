package io.easykit.delayqueue.metrics;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Gauges of a listener on this node. They find the listener by its id when they are read, because a child context that is
 * closed and opened again has another listener with the same id. They are 0 while there is none.
 */
final class HandlerMeters {

    private final OwnGauges gauges;
    private final Supplier<List<ListenerContainer>> listeners;
    private final String id;
    private final Tags tags;

    private HandlerMeters(OwnGauges gauges, Supplier<List<ListenerContainer>> listeners, ListenerEndpoint endpoint) {
        this.gauges = gauges;
        this.listeners = listeners;
        this.id = endpoint.id();
        this.tags = Tags.of("topic", endpoint.topic(), "listener", endpoint.id());
    }

    /** @param listeners all listeners of this node; gauges hold it weakly, so the caller keeps it */
    static void register(OwnGauges gauges, Supplier<List<ListenerContainer>> listeners, ListenerEndpoint endpoint) {
        HandlerMeters meters = new HandlerMeters(gauges, listeners, endpoint);
        meters.handlers("busy", "Calls of a listener that run on this node", ListenerContainer::busy);
        meters.handlers(
                "places",
                "Calls of a listener that this node can run at a time; none while it is paused or stopped",
                of -> of.isRunning() && !of.isPaused() ? of.endpoint().concurrency() : 0);
        gauges.add(Gauge.builder(
                        "delayqueue.oldest.run",
                        listeners,
                        meters.of(listener -> DurationTexts.seconds(listener.oldestRun())))
                .description("How long the longest of the running calls has lasted")
                .baseUnit("seconds")
                .tags(meters.tags));
    }

    private void handlers(String what, String description, ToDoubleFunction<ListenerContainer> number) {
        gauges.add(Gauge.builder("delayqueue.handlers." + what, listeners, of(number))
                .description(description)
                .tags(tags));
    }

    private ToDoubleFunction<Supplier<List<ListenerContainer>>> of(ToDoubleFunction<ListenerContainer> number) {
        return all -> all.get().stream()
                .filter(listener -> listener.endpoint().id().equals(id))
                .mapToDouble(number)
                .sum();
    }
}
