package io.easykit.delayqueue.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.easykit.delayqueue.DeadLetter;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.test.RecordingAcknowledgment.Result;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TestMessageTests {

    private static final Instant NOON = Instant.parse("2026-11-28T12:00:00Z");

    @Test
    void makesAMessageOfItsFirstRunByDefault() {
        DelayMessage<String> message = TestMessage.of("mail", "ada").delivered();

        assertThat(message.topic()).isEqualTo("mail");
        assertThat(message.payload()).isEqualTo("ada");
        assertThat(message.attempt()).isEqualTo(1);
        assertThat(message.leaseExpirations()).isZero();
        assertThat(message.headers()).isEmpty();
        assertThat(message.acknowledgment().isLost()).isFalse();
    }

    @Test
    void makesMessagesAndDeadLettersOfWhatIsSet() {
        TestMessage<String> test = TestMessage.of("mail", "ada")
                .id("a")
                .header("tenant", "blue")
                .at(NOON)
                .failures(2)
                .leaseExpirations(1);

        DelayMessage<String> message = test.delivered();
        assertThat(message.id()).isEqualTo("a");
        assertThat(message.headers()).isEqualTo(Map.of("tenant", "blue"));
        assertThat(message.due()).isEqualTo(NOON);
        assertThat(message.attempt()).isEqualTo(3);
        assertThat(message.leaseExpirations()).isEqualTo(1);
        assertThat(message.uniqueId())
                .isEqualTo(test.delivered().uniqueId())
                .isNotEqualTo(test.id("b").delivered().uniqueId());

        DeadLetter<String> dead = test.dead("no address");
        assertThat(dead.id()).isEqualTo("b");
        assertThat(dead.diedAt()).isEqualTo(NOON);
        assertThat(dead.failures()).isEqualTo(2);
        assertThat(dead.lastError()).isEqualTo("no address");
    }

    @Test
    void recordsTheFirstCallThatSettlesAMessage() {
        RecordingAcknowledgment settled = new RecordingAcknowledgment();
        assertThat(settled.result()).isEqualTo(Result.OPEN);
        IllegalStateException closed = new IllegalStateException("closed");

        settled.fail(closed, Duration.ofHours(1));
        settled.acknowledge();

        assertThat(settled.result()).isEqualTo(Result.FAILED);
        assertThat(settled.error()).isSameAs(closed);
        assertThat(settled.retryAfter()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void recordsARejectedAndALostMessage() {
        RecordingAcknowledgment settled = new RecordingAcknowledgment();
        settled.reject(new IllegalStateException("unknown order"));

        assertThat(settled.result()).isEqualTo(Result.REJECTED);
        assertThat(settled.retryAfter()).isNull();
        assertThat(settled.isLost()).isFalse();
        assertThat(settled.lose().isLost()).isTrue();
    }

    @Test
    void eachMessageIsSettledByItself() {
        TestMessage<String> test = TestMessage.of("mail", "ada");
        test.delivered().acknowledgment().acknowledge();

        assertThat(test.failures(1).delivered().acknowledgment())
                .isInstanceOfSatisfying(RecordingAcknowledgment.class, settled -> assertThat(settled.result())
                        .isEqualTo(Result.OPEN));
    }

    @Test
    void refusesWhatProductionRefuses() {
        RecordingAcknowledgment settled = new RecordingAcknowledgment();

        assertThatNullPointerException()
                .isThrownBy(() -> settled.fail(new IllegalStateException("no cause").getCause()));
        assertThatNullPointerException().isThrownBy(() -> settled.fail(new IllegalStateException("closed"), null));
        assertThat(settled.result()).isEqualTo(Result.OPEN);
        assertThat(TestMessage.<String>of("mail", null).dead("unreadable").payload())
                .isNull();
        assertThatNullPointerException()
                .isThrownBy(() -> TestMessage.of("mail", null).delivered());
    }
}
