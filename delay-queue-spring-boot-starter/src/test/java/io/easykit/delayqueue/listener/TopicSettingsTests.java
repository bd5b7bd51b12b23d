package io.easykit.delayqueue.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.DelayTopic;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.listener.TopicSettings.BackOff;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TopicSettingsTests {

    private static final ListenerEndpoint DEFAULT =
            ListenerEndpoint.builder("id", "topic", String.class).build();

    @Test
    void letsTheTopicWinOverTheAnnotationAndThatOverTheDefaults() {
        TopicSettingsTable table = new TopicSettingsTable(
                concurrencyAndAttempts(1, 10), Map.of("topic", concurrencyAndAttempts(3, null)), Duration.ZERO);

        ListenerEndpoint endpoint = endpoint(table.settings("topic", concurrencyAndAttempts(2, 20)));

        assertThat(endpoint.concurrency()).isEqualTo(3);
        assertThat(endpoint.retry().maxAttempts()).isEqualTo(20);
        assertThat(endpoint.lease()).isEqualTo(DEFAULT.lease());
    }

    @Test
    void letsSettingsWinOverADeclaredTopicAndThatOverTheDefaults() {
        DelayTopic topic = DelayTopic.named("topic")
                .shards(8)
                .maxLeaseExpirations(3)
                .replicaWait(new ReplicaWait(2, Duration.ofMillis(300)))
                .deadLetterRetention(Duration.ofDays(1))
                .alerts(new AlertLimits(null, 5L, 6L, null))
                .noConsumerAlert(Duration.ofMinutes(1))
                .build();
        TopicSettingsTable table = new TopicSettingsTable(shards(2), Map.of("topic", shards(16)), Duration.ZERO)
                .declaredBy(List.of(topic, DelayTopic.named("other").shards(4).build()));

        ListenerEndpoint endpoint = endpoint(table.settings("topic", TopicSettings.NONE));

        assertThat(table.shards("topic")).isEqualTo(16);
        assertThat(table.shards("other")).isEqualTo(4);
        assertThat(table.shards("undeclared")).isEqualTo(2);
        assertThat(endpoint.maxLeaseExpirations()).isEqualTo(3);
        assertThat(endpoint.deadLetterRetention()).isEqualTo(Duration.ofDays(1));
        assertThat(endpoint.alerts()).isEqualTo(new AlertLimits(null, 5L, 6L, null));
        assertThat(table.replicaWait("topic")).isEqualTo(new ReplicaWait(2, Duration.ofMillis(300)));
        assertThat(table.noConsumer("topic")).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void mergesTheBackOffPartByPart() {
        TopicSettings settings = backOff(new BackOff(Duration.ofSeconds(3), null, null, 0.5))
                .over(backOff(new BackOff(Duration.ofSeconds(9), 4.0, null, null)));

        assertThat(endpoint(settings).retry())
                .isEqualTo(new RetryPolicy(
                        DEFAULT.retry().maxAttempts(),
                        Duration.ofSeconds(3),
                        4.0,
                        DEFAULT.retry().maxDelay(),
                        0.5));
    }

    @Test
    void raisesTheLongestWaitToAFirstWaitThatIsLongerThanTheDefault() {
        TopicSettings settings = backOff(new BackOff(Duration.ofHours(1), null, null, null));

        assertThat(endpoint(settings).retry().maxDelay()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void refusesALongestWaitThatIsShorterThanTheFirst() {
        TopicSettings settings = backOff(new BackOff(Duration.ofHours(1), null, Duration.ofSeconds(1), null));

        assertThatThrownBy(() -> endpoint(settings)).hasMessageContaining("maxDelay 1s is less than firstDelay 1h");
    }

    @Test
    void refusesImpossibleShardsAndClassesThatAreNoExceptions() {
        assertThatThrownBy(() -> shards(0).check()).hasMessageContaining("shards is 0");
        assertThatThrownBy(() -> shards(ShardKey.MAX_SHARDS + 1).check()).hasMessageContaining("1 to 1024");
        assertThatThrownBy(() -> new TopicSettings(
                                null,
                                null,
                                null,
                                null,
                                null,
                                null,
                                null,
                                List.of(String.class),
                                null,
                                null,
                                null,
                                null,
                                null,
                                null,
                                null,
                                null,
                                null)
                        .check())
                .hasMessageContaining("java.lang.String, which is no exception");
    }

    @Test
    void knowsTheShardsOfTopicsWithoutListeners() {
        TopicSettingsTable table = new TopicSettingsTable(shards(2), Map.of("wide", shards(16)), Duration.ofSeconds(1));

        assertThat(table.shards("wide")).isEqualTo(16);
        assertThat(table.shards("other")).isEqualTo(2);
        assertThat(new TopicSettingsTable(TopicSettings.NONE, Map.of(), Duration.ZERO).shards("any"))
                .as("left to Redis")
                .isZero();
    }

    @Test
    void knowsHowManyReplicasATopicWaitsFor() {
        TopicSettingsTable table = new TopicSettingsTable(
                replicas(1, Duration.ofMillis(300)),
                Map.of("two", replicas(2, null), "none", replicas(0, null)),
                Duration.ofSeconds(1));

        assertThat(table.replicaWait("other")).isEqualTo(new ReplicaWait(1, Duration.ofMillis(300)));
        assertThat(table.replicaWait("two")).isEqualTo(new ReplicaWait(2, Duration.ofMillis(300)));
        assertThat(table.replicaWait("none")).isNull();
        assertThat(new TopicSettingsTable(TopicSettings.NONE, Map.of(), Duration.ZERO).replicaWait("any"))
                .isNull();
        assertThatThrownBy(() -> replicas(-1, null).check()).hasMessageContaining("wait-for-replicas is -1");
        for (Duration tooLong : List.of(Duration.ofHours(1), ChronoUnit.FOREVER.getDuration())) {
            assertThatThrownBy(() -> replicas(1, tooLong).check())
                    .hasMessageContainingAll("replica-timeout", "Give 1ms to 1m");
        }
    }

    @Test
    void readsTheLimitsOfATopic() {
        FlowLimits limits = limits("50/s", null, 20).over(limits(null, 7, null)).limits();

        assertThat(limits).isEqualTo(new FlowLimits(new Rate(50, Duration.ofSeconds(1), 7), 20));
        assertThat(limits("600/min", null, null).limits().rate()).isEqualTo(new Rate(600, Duration.ofMinutes(1), 1));
        assertThat(limits("10 / h", null, null).limits().rate()).isEqualTo(new Rate(10, Duration.ofHours(1), 1));
        assertThat(limits("2000/s", null, null).limits().rate()).isEqualTo(new Rate(2000, Duration.ofSeconds(1), 200));
        assertThat(endpoint(TopicSettings.NONE).limits()).isEqualTo(FlowLimits.NONE);
        assertThat(endpoint(limits("50/s", null, 20)).limits().maxInFlight()).isEqualTo(20);
    }

    @Test
    void refusesABurstWithoutARateAndFewerPlacesThanShards() {
        assertThatThrownBy(() -> endpoint(limits(null, 7, null))).hasMessageContaining("the topic has no rate");
        assertThatThrownBy(() -> endpoint(limits("1/h", 100_000, null)))
                .hasMessageContaining("more than a year to fill");
        assertThatThrownBy(() -> new TopicSettings(
                                8, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                                null, 7)
                        .check())
                .hasMessageContaining("Each of the 8 shards needs a place");
    }

    private static TopicSettings limits(@Nullable String rate, @Nullable Integer burst, @Nullable Integer places) {
        return new TopicSettings(
                null, null, null, null, null, null, null, null, null, null, null, null, null, null, rate, burst,
                places);
    }

    private static TopicSettings replicas(int count, @Nullable Duration timeout) {
        return new TopicSettings(
                null, null, null, null, null, null, null, null, null, count, timeout, null, null, null, null, null,
                null);
    }

    private static ListenerEndpoint endpoint(TopicSettings settings) {
        ListenerEndpoint.Builder builder = ListenerEndpoint.builder("id", "topic", String.class);
        settings.applyTo(builder, DEFAULT.retry());
        return builder.build();
    }

    private static TopicSettings concurrencyAndAttempts(int concurrency, @Nullable Integer attempts) {
        return new TopicSettings(
                null,
                concurrency,
                null,
                attempts,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null);
    }

    private static TopicSettings backOff(BackOff backOff) {
        return new TopicSettings(
                null, null, null, null, null, null, backOff, null, null, null, null, null, null, null, null, null,
                null);
    }

    private static TopicSettings shards(int shards) {
        return new TopicSettings(
                shards, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
    }
}
