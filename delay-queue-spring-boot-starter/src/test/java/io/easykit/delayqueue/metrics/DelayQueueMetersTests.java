package io.easykit.delayqueue.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.OutboxAdmin;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.ShardStats.Counters;
import io.easykit.delayqueue.admin.ShardStats.Pause;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.test.PrometheusRules;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.support.StaticApplicationContext;

/** The meters, and that the documentation and the rules for Prometheus name them as they are. */
@ExtendWith(OutputCaptureExtension.class)
class DelayQueueMetersTests {

    private static final Path DOCS = Path.of("..", "docs");
    private static final Instant NOW = Instant.ofEpochSecond(1_000_000);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final AtomicLong clock = new AtomicLong();
    private final List<String> reads = new ArrayList<>();
    private final ListenerContainer container = DelayQueueEngine.builder(mock(QueueBackend.class))
            .codec(new JacksonPayloadCodec())
            .build()
            .container(
                    ListenerEndpoint.builder("close", "orders", String.class)
                            .concurrency(8)
                            .build(),
                    message -> {});
    private boolean away;
    private List<String> refused = List.of();
    private long acknowledged;
    private long due = 10;
    private final DelayQueueMeters meters = meters();

    private DelayQueueMeters meters() {
        TopicSnapshots snapshots = new TopicSnapshots(this::stats, Duration.ofSeconds(5), clock::get);
        FleetNumbers numbers = new FleetNumbers(snapshots, this::nodes, () -> stats("health"), clock::get);
        DelayQueueMeters created = new DelayQueueMeters(registry, numbers, () -> List.of(container));
        created.onApplicationEvent(new ContextRefreshedEvent(new StaticApplicationContext()));
        return created;
    }

    private TopicStats stats(String topic) {
        answer("stats of " + topic);
        ShardStats first = new ShardStats(
                NOW,
                new Pause(NOW, "ops"),
                30,
                due,
                2,
                3,
                NOW.minusMillis(61_500),
                Set.of(Kind.DEAD, Kind.NO_CONSUMER),
                new Counters(36 + acknowledged, acknowledged, 0, 0, 0, 0, 0, 0),
                4,
                0,
                new ShardStats.Flow(Duration.ofMillis(20), 5, 0, 0, null));
        ShardStats second = new ShardStats(NOW, null, 0, 0, 0, 0, null, Set.of(), new Counters(0, 0, 0, 0, 0, 0, 0, 0));
        return refused.isEmpty()
                ? new TopicStats(topic, List.of(first, second))
                : new TopicStats(topic, new TreeMap<>(Map.of(0, first)), refused);
    }

    private List<NodeInfo> nodes() {
        answer("nodes");
        NodeInfo.Listener listener = new NodeInfo.Listener("close", "orders", 1, 8, Duration.ZERO, null);
        NodeInfo.Listener paused = new NodeInfo.Listener("close", "orders", 1, 8, Duration.ZERO, NodeInfo.Pause.LOCAL);
        return List.of(
                new NodeInfo("a", "shop", "a", Map.of(), NOW, NOW, List.of(listener)),
                new NodeInfo("b", "shop", "b", Map.of(), NOW, NOW, List.of(listener)),
                new NodeInfo("c", "shop", "c", Map.of(), NOW, NOW, List.of(paused)));
    }

    private void answer(String read) {
        reads.add(read);
        if (away) {
            throw new IllegalStateException("no reply");
        }
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    /** Each message is in one state, so that their sum is their number. */
    private Map<String, Double> messages() {
        return registry.find("delayqueue.messages").tags("topic", "orders").gauges().stream()
                .collect(Collectors.toMap(
                        gauge -> String.valueOf(gauge.getId().getTag("state")), gauge -> gauge.value()));
    }

    private void later(Duration duration) {
        clock.addAndGet(duration.toNanos());
    }

    @Test
    void showsTheStateOfATopic() {
        assertThat(messages())
                .isEqualTo(Map.of("scheduled", 16.0, "due", 10.0, "parked", 4.0, "in_flight", 2.0, "dead", 3.0));
        assertThat(gauge("delayqueue.oldest.due", "topic", "orders")).isEqualTo(61.5);
        assertThat(gauge("delayqueue.paused", "topic", "orders")).isEqualTo(1);
        assertThat(gauge("delayqueue.limited", "topic", "orders")).isEqualTo(1);
        assertThat(gauge("delayqueue.consumers", "topic", "orders")).isEqualTo(16);
        assertThat(gauge("delayqueue.ledger.imbalance", "topic", "orders")).isEqualTo(1);
        assertThat(gauge("delayqueue.alert", "topic", "orders", "kind", "dead")).isEqualTo(1);
        assertThat(gauge("delayqueue.alert", "topic", "orders", "kind", "no_consumer"))
                .isEqualTo(1);
        assertThat(gauge("delayqueue.alert", "topic", "orders", "kind", "failing"))
                .isZero();
        assertThat(gauge("delayqueue.available")).isEqualTo(1);
        assertThat(reads).containsExactlyInAnyOrder("stats of orders", "nodes", "stats of health");
    }

    @Test
    void showsTheListenersOfThisNode() {
        assertThat(gauge("delayqueue.handlers.busy", "topic", "orders", "listener", "close"))
                .isZero();
        assertThat(gauge("delayqueue.handlers.places", "topic", "orders", "listener", "close"))
                .as("it is not started")
                .isZero();
        assertThat(gauge("delayqueue.oldest.run", "topic", "orders", "listener", "close"))
                .isZero();
    }

    @Test
    void estimatesWhenAllDueMessagesAreDone() {
        assertThat(gauge("delayqueue.drain.time", "topic", "orders"))
                .as("no rate yet")
                .isNaN();
        later(Duration.ofSeconds(60));
        acknowledged = 300;
        assertThat(gauge("delayqueue.drain.time", "topic", "orders"))
                .as("5 a second")
                .isEqualTo(2);
        later(Duration.ofSeconds(60));
        acknowledged = 360;
        assertThat(gauge("delayqueue.drain.time", "topic", "orders"))
                .as("1 a second in the last minute")
                .isEqualTo(10);
        for (int i = 0; i < 3; i++) {
            later(Duration.ofSeconds(60));
            gauge("delayqueue.drain.time", "topic", "orders");
        }
        assertThat(gauge("delayqueue.drain.time", "topic", "orders"))
                .as("nothing is done")
                .isInfinite();
        due = 0;
        later(Duration.ofSeconds(5));
        assertThat(gauge("delayqueue.drain.time", "topic", "orders")).isZero();
    }

    @Test
    void isNaNWhileRedisDoesNotReply() {
        away = true;
        assertThat(gauge("delayqueue.available")).isZero();
        for (Meter meter : registry.getMeters()) {
            String name = meter.getId().getName();
            if (meter instanceof Gauge gauge
                    && !isBucket(name)
                    && !Set.of(
                                    "delayqueue.available",
                                    "delayqueue.handlers.busy",
                                    "delayqueue.handlers.places",
                                    "delayqueue.oldest.run")
                            .contains(name)) {
                assertThat(gauge.value()).as(name).isNaN();
            }
        }
        away = false;
        later(Duration.ofSeconds(10));
        assertThat(gauge("delayqueue.available")).isEqualTo(1);
        assertThat(gauge("delayqueue.consumers", "topic", "orders")).isEqualTo(16);
    }

    /** Sums of the other shards would look right, and no alert would fire. */
    @Test
    void isNaNWhileRedisRefusesToCountAShard() {
        refused = List.of("shard 1 is refused");

        assertThat(messages().values()).hasSize(5).allSatisfy(number -> assertThat(number)
                .isNaN());
        for (String name : List.of("keys.stopped", "oldest.due", "drain.time", "paused", "ledger.imbalance")) {
            assertThat(gauge("delayqueue." + name, "topic", "orders")).as(name).isNaN();
        }
        assertThat(gauge("delayqueue.consumers", "topic", "orders")).isEqualTo(16);
        assertThat(gauge("delayqueue.available")).isEqualTo(1);

        refused = List.of();
        later(Duration.ofSeconds(5));
        assertThat(messages()).containsEntry("due", 10.0);
    }

    @Test
    void givesTopicsBeyondTwoHundredSharedMetersAndSaysSoOnce(CapturedOutput output) {
        IntStream.range(0, 300).forEach(i -> meters.onSent(new DelayQueueEvent.Sent("t" + i, "x", SendOutcome.STORED)));

        assertThat(registry.get("delayqueue.sent")
                        .tags("topic", "other", "result", "stored")
                        .counter()
                        .count())
                .isEqualTo(101);
        assertThat(registry.find("delayqueue.messages").tags("topic", "other").gauge())
                .as("it is no topic in Redis")
                .isNull();
        assertThat(output.toString().split("all others share the meters", -1)).hasSize(2);
    }

    @Test
    void hasBucketsForLatenessAndHandling() {
        for (String name : List.of("delayqueue.lateness", "delayqueue.handling")) {
            Timer timer = registry.get(name).tags("topic", "orders").timer();
            assertThat(Arrays.stream(timer.takeSnapshot().histogramCounts()).map(bucket -> bucket.bucket() / 1e6))
                    .as(name)
                    .containsExactly(5.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 5_000.0, 30_000.0, 60_000.0, 300_000.0);
        }
    }

    @Test
    void showsTheCountOfTheOutbox() {
        OutboxGauges outbox = new OutboxGauges(registry, new CountedOutbox());

        assertThat(registry.get("delayqueue.outbox.waiting").gauge().value()).isEqualTo(3);
        assertThat(registry.get("delayqueue.outbox.oldest").gauge().value()).isEqualTo(70.5);
        assertThat(registry.get("delayqueue.outbox.refused").gauge().value()).isEqualTo(1);
        outbox.destroy();
        assertThat(registry.find("delayqueue.outbox.waiting").gauge()).isNull();
    }

    private static final class CountedOutbox implements OutboxAdmin {

        @Override
        public void start() {}

        @Override
        public void stop(Duration timeout) {}

        @Override
        public Stats stats() {
            return new Stats(3, Duration.ofMillis(70_500), 1);
        }
    }

    @Test
    void areThoseOfTheDocumentation() throws IOException {
        OutboxGauges outbox = new OutboxGauges(registry, new CountedOutbox());
        Pattern row = Pattern.compile("(?m)^\\| `(delayqueue\\.[a-z.]+)` \\| (?:counter|gauge|timer).*$");
        Map<String, String> documented = new HashMap<>();
        row.matcher(Files.readString(DOCS.resolve("delay-queue/operations.md")))
                .results()
                .forEach(found -> documented.put(found.group(1), found.group()));

        assertThat(documented.keySet())
                .isEqualTo(registry.getMeters().stream()
                        .map(meter -> meter.getId().getName())
                        .filter(name -> !isBucket(name))
                        .collect(Collectors.toSet()));
        for (Meter meter : registry.getMeters()) {
            if (isBucket(meter.getId().getName())) {
                continue;
            }
            String description =
                    Objects.requireNonNull(documented.get(meter.getId().getName()));
            if (meter instanceof Gauge) {
                assertThat("seconds".equals(meter.getId().getBaseUnit()))
                        .as(description)
                        .isEqualTo(description.contains(", seconds:"));
            }
            for (Tag tag : meter.getId().getTags()) {
                boolean isEnum = Set.of("state", "result", "kind").contains(tag.getKey());
                assertThat(description)
                        .as(meter.getId().toString())
                        .contains("`" + (isEnum ? tag.getValue() : tag.getKey()) + "`");
            }
        }
        outbox.destroy();
    }

    /** The registry of this test has a gauge for each bucket of a timer. */
    private static boolean isBucket(String name) {
        return name.endsWith(".histogram");
    }

    @Test
    void areThoseOfTheRulesForPrometheus() throws IOException {
        OutboxGauges outbox = new OutboxGauges(registry, new CountedOutbox());
        PrometheusRules rules = new PrometheusRules("delay-queue", "delayqueue");
        assertThat(rules.count()).isGreaterThanOrEqualTo(12);
        rules.requireMeters(registry);
        rules.requireTests(registry);
        rules.requireRows();
        outbox.destroy();
    }
}
