package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DelayTopicTests {

    @Test
    void hasTheSettingsThatAreGiven() {
        AlertLimits alerts = new AlertLimits(null, null, 10L, null);
        DelayTopic topic = DelayTopic.named("orders")
                .shards(8)
                .maxLeaseExpirations(3)
                .leaseExpiredDelay(Duration.ofSeconds(1))
                .deadLetterRetention(Duration.ofDays(30))
                .deadKeyPolicy(DeadKeyPolicy.SKIP)
                .replicaWait(ReplicaWait.of(1))
                .alerts(alerts)
                .noConsumerAlert(Duration.ofMinutes(5))
                .build();

        assertThat(topic)
                .returns("orders", DelayTopic::name)
                .returns(8, DelayTopic::shards)
                .returns(3, DelayTopic::maxLeaseExpirations)
                .returns(Duration.ofSeconds(1), DelayTopic::leaseExpiredDelay)
                .returns(Duration.ofDays(30), DelayTopic::deadLetterRetention)
                .returns(DeadKeyPolicy.SKIP, DelayTopic::deadKeyPolicy)
                .returns(ReplicaWait.of(1), DelayTopic::replicaWait)
                .returns(alerts, DelayTopic::alerts)
                .returns(Duration.ofMinutes(5), DelayTopic::noConsumerAlert)
                .hasToString("DelayTopic[orders]");
        assertThat(OutgoingMessage.of(topic, "x").topic()).isEqualTo("orders");
    }

    @Test
    void leavesTheRestToOthers() {
        DelayTopic topic = DelayTopic.named("orders").build();

        assertThat(topic.shards()).isNull();
        assertThat(topic.maxLeaseExpirations()).isNull();
        assertThat(topic.deadKeyPolicy()).isNull();
        assertThat(topic.alerts()).isEqualTo(AlertLimits.NONE);
    }

    @Test
    void refusesImpossibleValuesWithARemedy() {
        DelayTopic.Builder builder = DelayTopic.named("orders");

        assertThatThrownBy(() -> DelayTopic.named("my orders")).hasMessageContaining("1 to 128");
        assertThatThrownBy(() -> builder.shards(0).build()).hasMessageContaining("give it 1 to 1024");
        assertThatThrownBy(() -> builder.shards(1025).build()).hasMessageContaining("give it 1 to 1024");
        builder.shards(1);
        assertThatThrownBy(
                        () -> DelayTopic.named("orders").maxLeaseExpirations(0).build())
                .hasMessageContaining("give 1 to 1000000");
        assertThatThrownBy(() -> DelayTopic.named("orders")
                        .leaseExpiredDelay(Duration.ofSeconds(-1))
                        .build())
                .hasMessageContaining("zero to 3650 days");
        assertThatThrownBy(() -> DelayTopic.named("orders")
                        .deadLetterRetention(Duration.ZERO)
                        .build())
                .hasMessageContaining("more than zero");
        assertThatThrownBy(() -> DelayTopic.named("orders")
                        .noConsumerAlert(Duration.ofSeconds(-1))
                        .build())
                .hasMessageContaining("zero to 3650 days");
    }
}
