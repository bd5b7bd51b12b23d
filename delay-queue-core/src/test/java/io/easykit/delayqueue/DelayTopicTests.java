package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.FlowLimits.Rate;
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
                .rate("600/min")
                .burst(7)
                .maxInFlight(20)
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
                .returns("600/min", DelayTopic::rate)
                .returns(7, DelayTopic::burst)
                .returns(20, DelayTopic::maxInFlight)
                .returns(new FlowLimits(new Rate(600, Duration.ofMinutes(1), 7), 20), DelayTopic::limits)
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
        assertThat(topic.burst()).isNull();
        assertThat(topic.limits()).isEqualTo(FlowLimits.NONE);
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

    @Test
    void refusesImpossibleLimitsWithARemedy() {
        assertThatThrownBy(() -> DelayTopic.named("calls").rate("fifty").build())
                .hasMessage(
                        "Topic 'calls': rate is 'fifty': give a number of messages in a second, a minute or an hour, for"
                                + " example 50/s, 600/min or 10/h.");
        assertThatThrownBy(() -> DelayTopic.named("calls").burst(5).build())
                .hasMessageContaining("set a rate such as 50/s, or remove the burst");
        assertThatThrownBy(() -> DelayTopic.named("calls").maxInFlight(0).build())
                .hasMessageContaining("give 1 to 1000000");
        assertThatThrownBy(
                        () -> DelayTopic.named("calls").shards(4).maxInFlight(3).build())
                .hasMessage("Topic 'calls' has maxInFlight 3 and 4 shards, so some shards could run nothing: give"
                        + " maxInFlight 4 or more, or fewer shards.");
    }
}
