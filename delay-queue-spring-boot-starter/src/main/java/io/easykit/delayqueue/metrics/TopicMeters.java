package io.easykit.delayqueue.metrics;

import io.easykit.delayqueue.SendOutcome;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;

/** Counters and timers of a topic on this node. */
final class TopicMeters {

    private static final Duration[] BUCKETS = Stream.of(5, 10, 50, 100, 500, 1_000, 5_000, 30_000, 60_000, 300_000)
            .map(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final MeterRegistry registry;
    private final Tags tags;
    private final boolean other;
    private final EnumMap<SendOutcome, Counter> sent = new EnumMap<>(SendOutcome.class);
    private final Counter completed;
    private final Counter failed;
    private final Counter discarded;
    private final Counter lost;
    private final Counter repeated;
    private final Counter dead;
    private final Timer lateness;
    private final Timer handling;

    /** @param other whether these are the meters of all topics that have none of their own */
    TopicMeters(MeterRegistry registry, String topic, boolean other) {
        this.registry = registry;
        this.tags = Tags.of("topic", topic);
        this.other = other;
        for (SendOutcome outcome : SendOutcome.values()) {
            sent.put(outcome, sends(outcome));
        }
        this.completed = deliveries("completed");
        this.failed = deliveries("failed");
        this.discarded = deliveries("discarded");
        this.lost = deliveries("lost");
        this.repeated = Counter.builder("delayqueue.repeated")
                .description("Messages that an idempotent listener of this node completed without a run")
                .tags(tags)
                .register(registry);
        this.dead = Counter.builder("delayqueue.dead")
                .description("Messages that this node has moved to the dead letters")
                .tags(tags)
                .register(registry);
        this.lateness = timer("delayqueue.lateness", "Time from the due time of a message to the start of its run");
        this.handling = timer("delayqueue.handling", "Run time of listeners");
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

    private Timer timer(String name, String description) {
        return Timer.builder(name)
                .description(description)
                .tags(tags)
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
    }

    boolean isOther() {
        return other;
    }

    Counter sent(SendOutcome outcome) {
        return Objects.requireNonNull(sent.get(outcome));
    }

    Counter completed() {
        return completed;
    }

    Counter failed() {
        return failed;
    }

    Counter discarded() {
        return discarded;
    }

    Counter lost() {
        return lost;
    }

    Counter repeated() {
        return repeated;
    }

    Counter dead() {
        return dead;
    }

    Timer lateness() {
        return lateness;
    }

    Timer handling() {
        return handling;
    }
}
