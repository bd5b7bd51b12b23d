package io.easykit.delayqueue.metrics;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.admin.TopicStats;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Gauges of a topic in Redis, the same on each node. They are NaN while Redis does not reply, or refuses to count a shard. */
final class TopicGauges {

    private final OwnGauges gauges;
    private final FleetNumbers numbers;
    private final String topic;
    private final Tags tags;

    private TopicGauges(OwnGauges gauges, FleetNumbers numbers, String topic) {
        this.gauges = gauges;
        this.numbers = numbers;
        this.topic = topic;
        this.tags = Tags.of("topic", topic);
    }

    static void register(OwnGauges gauges, FleetNumbers numbers, String topic) {
        new TopicGauges(gauges, numbers, topic).register();
    }

    private void register() {
        messages("scheduled", stats -> stats.waiting() - stats.due() - stats.parked());
        messages("due", TopicStats::due);
        messages("in_flight", TopicStats::inFlight);
        messages("dead", TopicStats::dead);
        messages("parked", TopicStats::parked);
        gauge(
                "delayqueue.keys.stopped",
                "Ordering keys whose messages wait, because one of them is a dead letter",
                tags,
                of -> of.stats(topic).stoppedKeys());
        seconds(
                "delayqueue.oldest.due",
                "Time since the oldest message that is due and not claimed was due",
                of -> DurationTexts.seconds(of.stats(topic).oldestDueAge()));
        seconds(
                "delayqueue.drain.time",
                "Time until all due messages are done at the rate of the last minute",
                of -> of.drainSeconds(topic));
        gauge(
                "delayqueue.paused",
                "1 if claims of the topic are stopped, on some shards at least",
                tags,
                of -> of.stats(topic).paused() ? 1 : 0);
        gauge(
                "delayqueue.limited",
                "1 if the rate or the maximum in flight keeps due messages waiting, on some shards at least",
                tags,
                of -> of.stats(topic).limited() ? 1 : 0);
        gauge(
                "delayqueue.consumers",
                "Calls of listeners that all nodes together can run",
                tags,
                of -> of.places(topic));
        gauge(
                "delayqueue.ledger.imbalance",
                "Messages sent, minus ended, minus present: 0 unless keys were changed by hand or evicted",
                tags,
                of -> of.stats(topic).imbalance());
        for (AlertLimits.Kind kind : AlertLimits.Kind.values()) {
            gauge(
                    "delayqueue.alert",
                    "1 while an alert is raised",
                    tags.and("kind", kind.name().toLowerCase(Locale.ROOT)),
                    of -> of.stats(topic).alerts().contains(kind) ? 1 : 0);
        }
    }

    private void messages(String state, ToDoubleFunction<TopicStats> number) {
        gauge(
                "delayqueue.messages",
                "Messages in Redis, each in one state",
                tags.and("state", state),
                of -> number.applyAsDouble(of.stats(topic)));
    }

    private void seconds(String name, String description, ToDoubleFunction<FleetNumbers> number) {
        gauges.add(Gauge.builder(name, numbers, orNaN(number))
                .description(description)
                .baseUnit("seconds")
                .tags(tags));
    }

    private void gauge(String name, String description, Tags all, ToDoubleFunction<FleetNumbers> number) {
        gauges.add(Gauge.builder(name, numbers, orNaN(number))
                .description(description)
                .tags(all));
    }

    private static ToDoubleFunction<FleetNumbers> orNaN(ToDoubleFunction<FleetNumbers> number) {
        return of -> {
            try {
                return number.applyAsDouble(of);
            } catch (RuntimeException unknown) {
                return Double.NaN;
            }
        };
    }
}
