package io.easykit.delayqueue.autoconfigure;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.TopicStats;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.springframework.context.ApplicationListener;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Meters by topic. {@code delayqueue.messages} counts the messages in Redis by state and is the same on each node.
 * {@code delayqueue.sent}, {@code delayqueue.deliveries}, {@code delayqueue.dead}, {@code delayqueue.lateness} and
 * {@code delayqueue.handling} measure this node. Topics with a listener have meters from the start, other topics from
 * their first event.
 */
final class DelayQueueMeters implements DelayQueueListener, ApplicationListener<ContextRefreshedEvent> {

    private final MeterRegistry registry;
    private final TopicSnapshots snapshots;
    private final Supplier<Set<String>> listenedTo;
    private final Map<String, TopicMeters> meters = new ConcurrentHashMap<>();

    DelayQueueMeters(MeterRegistry registry, TopicSnapshots snapshots, Supplier<Set<String>> listenedTo) {
        this.registry = registry;
        this.snapshots = snapshots;
        this.listenedTo = listenedTo;
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        listenedTo.get().forEach(this::metersOf);
    }

    @Override
    public void onSent(DelayQueueEvent.Sent event) {
        metersOf(event.topic()).sent(event.outcome()).increment();
    }

    @Override
    public void onDelivered(DelayQueueEvent.Delivered event) {
        metersOf(event.topic()).lateness.record(event.lateness());
    }

    @Override
    public void onCompleted(DelayQueueEvent.Completed event) {
        TopicMeters topic = metersOf(event.topic());
        topic.completed.increment();
        topic.handling.record(event.runtime());
    }

    @Override
    public void onFailed(DelayQueueEvent.Failed event) {
        TopicMeters topic = metersOf(event.topic());
        topic.failed.increment();
        topic.handling.record(event.runtime());
    }

    @Override
    public void onLeaseLost(DelayQueueEvent.LeaseLost event) {
        metersOf(event.topic()).lost.increment();
    }

    @Override
    public void onDied(DelayQueueEvent.Died event) {
        metersOf(event.topic()).dead.increment();
    }

    private TopicMeters metersOf(String topic) {
        TopicMeters known = meters.get(topic);
        return known != null
                ? known
                : meters.computeIfAbsent(topic, name -> new TopicMeters(registry, snapshots, name));
    }

    private static final class TopicMeters {

        private final MeterRegistry registry;
        private final TopicSnapshots snapshots;
        private final String topic;
        private final Tags tags;
        private final EnumMap<SendOutcome, Counter> sent = new EnumMap<>(SendOutcome.class);
        private final Counter completed;
        private final Counter failed;
        private final Counter lost;
        private final Counter dead;
        private final Timer lateness;
        private final Timer handling;

        TopicMeters(MeterRegistry registry, TopicSnapshots snapshots, String topic) {
            this.registry = registry;
            this.snapshots = snapshots;
            this.topic = topic;
            this.tags = Tags.of("topic", topic);
            for (SendOutcome outcome : SendOutcome.values()) {
                sent.put(outcome, sends(outcome));
            }
            this.completed = deliveries("completed");
            this.failed = deliveries("failed");
            this.lost = deliveries("lost");
            this.dead = Counter.builder("delayqueue.dead")
                    .description("Messages that this node has moved to the dead letters")
                    .tags(tags)
                    .register(registry);
            this.lateness = Timer.builder("delayqueue.lateness")
                    .description("Time from the due time of a message to the start of its run")
                    .tags(tags)
                    .register(registry);
            this.handling = Timer.builder("delayqueue.handling")
                    .description("Run time of listeners")
                    .tags(tags)
                    .register(registry);
            messages("waiting", TopicStats::waiting);
            messages("due", TopicStats::due);
            messages("in_flight", TopicStats::inFlight);
            messages("dead", TopicStats::dead);
        }

        Counter sent(SendOutcome outcome) {
            return Objects.requireNonNull(sent.get(outcome));
        }

        private Counter sends(SendOutcome outcome) {
            return Counter.builder("delayqueue.sent")
                    .description("Messages sent by this node, by result")
                    .tags(tags.and("result", outcome.name().toLowerCase(Locale.ROOT)))
                    .register(registry);
        }

        private Counter deliveries(String result) {
            return Counter.builder("delayqueue.deliveries")
                    .description("Runs of listeners on this node, by result")
                    .tags(tags.and("result", result))
                    .register(registry);
        }

        private void messages(String state, ToDoubleFunction<TopicStats> number) {
            Gauge.builder("delayqueue.messages", snapshots, all -> numberOf(all, number))
                    .description("Messages in Redis, by state; due messages also count as waiting")
                    .tags(tags.and("state", state))
                    .register(registry);
        }

        private double numberOf(TopicSnapshots all, ToDoubleFunction<TopicStats> number) {
            try {
                return number.applyAsDouble(all.of(topic));
            } catch (RuntimeException unknown) {
                return Double.NaN;
            }
        }
    }
}
