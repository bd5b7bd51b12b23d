package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.AlertLimits;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.IdempotencyStore;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.TopicConflictException;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class TopicSettingsGuardTests {

    private static final AlertLimits TEN_DUE = new AlertLimits(null, 10L, null, null);

    private static final FlowLimits TEN = FlowLimits.of(FlowLimits.Rate.parse("10/s"));

    private static final IdempotencyStore STORE = (topic, uniqueId, handler) -> false;

    private final TestQueue queue = new TestQueue();

    @ParameterizedTest
    @MethodSource("contradictions")
    void refusesToStartAListenerThatContradictsAnotherOfItsTopic(
            UnaryOperator<ListenerEndpoint.Builder> one, UnaryOperator<ListenerEndpoint.Builder> other, String text) {
        start(one.apply(endpoint("one", TOPIC)));
        ListenerEndpoint.Builder contradicting = other.apply(endpoint("other", TOPIC));

        assertThatThrownBy(() -> start(contradicting))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("'one'")
                .hasMessageContaining("'other'")
                .hasMessageContaining(text)
                .hasMessageContaining("give both listeners the same");
    }

    static Stream<Arguments> contradictions() {
        return Stream.of(
                contradiction(one -> one.maxLeaseExpirations(3), other -> other, "maxLeaseExpirations 5"),
                contradiction(
                        one -> one.leaseExpiredDelay(Duration.ofSeconds(1)),
                        other -> other.leaseExpiredDelay(Duration.ofSeconds(2)),
                        "leaseExpiredDelay 2s"),
                contradiction(
                        one -> one.deadLetterRetention(Duration.ofDays(1)),
                        other -> other.deadLetterRetention(Duration.ofDays(2)),
                        "deadLetterRetention 2d"),
                contradiction(one -> one.idempotencyStore(STORE), other -> other, "only 'one' is idempotent"),
                contradiction(one -> one, other -> other.idempotencyStore(STORE), "only 'other' is idempotent"),
                contradiction(one -> one.limits(TEN), other -> other, "limits no limits"),
                contradiction(one -> one, other -> other.limits(TEN), "limits 10/s"),
                contradiction(
                        one -> one.alerts(TEN_DUE),
                        other -> other.alerts(new AlertLimits(null, 20L, null, null)),
                        "due=20"));
    }

    private static Arguments contradiction(
            UnaryOperator<ListenerEndpoint.Builder> one, UnaryOperator<ListenerEndpoint.Builder> other, String text) {
        return Arguments.of(one, other, text);
    }

    @Test
    void startsListenersThatAgreeOrLeaveItToOneOfThem() {
        start(endpoint("one", TOPIC).alerts(TEN_DUE).deadLetterRetention(Duration.ofDays(1)));

        assertThat(start(endpoint("same", TOPIC).alerts(TEN_DUE)).isRunning()).isTrue();
        assertThat(start(endpoint("silent", TOPIC)).isRunning()).isTrue();
    }

    /** Those of the topic are the limits of all its listeners. */
    @Test
    void startsListenersThatTakeTheLimitsOfTheirTopic() {
        TestQueue limited =
                new TestQueue(builder -> builder.topicLimits(topic -> topic.equals(TOPIC) ? TEN : FlowLimits.NONE));
        limited.start(endpoint("one", TOPIC).limits(TEN), message -> {});

        assertThat(limited.start(endpoint("silent", TOPIC), message -> {}).isRunning())
                .isTrue();
    }

    @Test
    void startsListenersThatAreBothIdempotent() {
        start(endpoint("one", TOPIC).idempotencyStore(STORE));

        assertThat(start(endpoint("same", TOPIC).idempotencyStore(STORE)).isRunning())
                .isTrue();
    }

    @Test
    void letsListenersOfOtherTopicsHaveSettingsOfTheirOwn() {
        start(endpoint("one", TOPIC).maxLeaseExpirations(3));

        assertThat(start(endpoint("other", "invoices").maxLeaseExpirations(4)).isRunning())
                .isTrue();
    }

    @Test
    void forgetsWhatHasStopped() {
        queue.stop(start(endpoint("one", TOPIC).maxLeaseExpirations(3)));

        assertThat(start(endpoint("other", TOPIC).maxLeaseExpirations(4)).isRunning())
                .isTrue();
    }

    private ListenerContainer start(ListenerEndpoint.Builder endpoint) {
        return queue.start(endpoint, message -> {});
    }

    private static ListenerEndpoint.Builder endpoint(String id, String topic) {
        return ListenerEndpoint.builder(id, topic, String.class);
    }
}
