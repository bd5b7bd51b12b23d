package io.easykit.delayqueue.metrics;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Meters by topic. Some are about Redis and the same on each node, such as {@code delayqueue.messages}; others measure this
 * node, such as {@code delayqueue.sent}. Topics with a listener have meters from the start, other topics from their first
 * event. Beyond {@value #MOST_TOPICS} topics all others share the meters of {@value #OTHER}, so that no application that
 * makes up topics fills the memory of its monitor.
 */
public final class DelayQueueMeters
        implements DelayQueueListener, ApplicationListener<ContextRefreshedEvent>, DisposableBean {

    static final int MOST_TOPICS = 200;
    static final String OTHER = "other";

    private static final Logger log = LoggerFactory.getLogger("delay-queue");

    private final MeterRegistry registry;
    private final OwnGauges gauges;
    private final FleetNumbers numbers;
    private final Supplier<List<ListenerContainer>> listeners;
    private final Map<String, TopicMeters> meters = new ConcurrentHashMap<>();

    public DelayQueueMeters(MeterRegistry registry, FleetNumbers numbers, Supplier<List<ListenerContainer>> listeners) {
        this.registry = registry;
        this.gauges = new OwnGauges(registry);
        this.numbers = numbers;
        this.listeners = listeners;
        gauges.add(Gauge.builder("delayqueue.available", numbers, of -> of.isAvailable() ? 1 : 0)
                .description("1 if Redis replies to this node, else 0"));
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        listeners.get().forEach(container -> {
            TopicMeters topic = metersOf(container.endpoint().topic());
            if (!topic.isOther()) {
                HandlerMeters.register(gauges, listeners, container.endpoint());
            }
        });
    }

    @Override
    public void onSent(DelayQueueEvent.Sent event) {
        metersOf(event.topic()).sent(event.outcome()).increment();
    }

    @Override
    public void onDelivered(DelayQueueEvent.Delivered event) {
        metersOf(event.topic()).lateness().record(event.lateness());
    }

    @Override
    public void onCompleted(DelayQueueEvent.Completed event) {
        TopicMeters topic = metersOf(event.topic());
        topic.completed().increment();
        topic.handling().record(event.runtime());
    }

    @Override
    public void onRepeated(DelayQueueEvent.Repeated event) {
        metersOf(event.topic()).repeated().increment();
    }

    @Override
    public void onFailed(DelayQueueEvent.Failed event) {
        TopicMeters topic = metersOf(event.topic());
        topic.failed().increment();
        topic.handling().record(event.runtime());
    }

    @Override
    public void onDiscarded(DelayQueueEvent.Discarded event) {
        TopicMeters topic = metersOf(event.topic());
        topic.discarded().increment();
        topic.handling().record(event.runtime());
    }

    @Override
    public void onLeaseLost(DelayQueueEvent.LeaseLost event) {
        metersOf(event.topic()).lost().increment();
    }

    @Override
    public void onDied(DelayQueueEvent.Died event) {
        metersOf(event.topic()).dead().increment();
    }

    @Override
    public void destroy() {
        gauges.remove();
    }

    private TopicMeters metersOf(String topic) {
        TopicMeters known = meters.get(topic);
        if (known != null) {
            return known;
        }
        return meters.size() < MOST_TOPICS ? meters.computeIfAbsent(topic, this::create) : other();
    }

    private TopicMeters other() {
        return meters.computeIfAbsent(OTHER, name -> {
            log.warn(
                    "There are more than {} topics: all others share the meters with the tag topic={}",
                    MOST_TOPICS,
                    OTHER);
            return new TopicMeters(registry, name, true);
        });
    }

    private TopicMeters create(String topic) {
        TopicGauges.register(gauges, numbers, topic);
        return new TopicMeters(registry, topic, false);
    }
}
