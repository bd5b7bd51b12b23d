package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OutgoingMessageTests {

    private static final OutgoingMessage PLAIN = OutgoingMessage.of("orders", "payload");

    static Stream<UnaryOperator<OutgoingMessage>> changes() {
        return Stream.of(
                message -> message.after(Duration.ofSeconds(1)),
                message -> message.at(Instant.EPOCH),
                message -> message.id("a"),
                message -> message.header("name", "value"),
                message -> message.headers(Map.of("name", "value")),
                message -> message.retry(RetryPolicy.fixed(2, Duration.ofSeconds(1))),
                message -> message.phase(SendPhase.AFTER_COMMIT),
                message -> message.payloadType(CharSequence.class),
                message -> message.sendTimeout(Duration.ofSeconds(5)),
                message -> message.waitForReplicas(ReplicaWait.of(1)),
                message -> message.orderingKey("k"));
    }

    /** As mocks compare what was sent. */
    @ParameterizedTest
    @MethodSource("changes")
    void isEqualToAMessageOfTheSameValues(UnaryOperator<OutgoingMessage> change) {
        OutgoingMessage changed = change.apply(PLAIN);

        assertThat(changed)
                .isEqualTo(change.apply(OutgoingMessage.of("orders", "payload")))
                .hasSameHashCodeAs(change.apply(OutgoingMessage.of("orders", "payload")))
                .isNotEqualTo(PLAIN);
        assertThat(changed.topic()).isEqualTo("orders");
        assertThat(changed.payload()).isEqualTo("payload");
    }

    @Test
    void keepsWhatWasSetBefore() {
        OutgoingMessage message = PLAIN.id("a")
                .header("one", "1")
                .header("two", "2")
                .orderingKey("k")
                .sendTimeout(Duration.ofSeconds(5))
                .after(Duration.ofSeconds(1));

        assertThat(message.id()).isEqualTo("a");
        assertThat(message.headers()).isEqualTo(Map.of("one", "1", "two", "2"));
        assertThat(message.orderingKey()).isEqualTo("k");
        assertThat(message.sendTimeout()).isEqualTo(Duration.ofSeconds(5));
        assertThat(message.id(null).id()).isNull();
        assertThat(message.sendTimeout(null).sendTimeout()).isNull();
        assertThat(PLAIN.headers()).isEmpty();
    }
}
