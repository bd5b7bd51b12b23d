package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.test.RecordingAcknowledgment;
import io.easykit.delayqueue.test.RecordingAcknowledgment.Result;
import io.easykit.delayqueue.test.TestMessage;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PartnerCallsTests {

    private final RecordingAcknowledgment settled = new RecordingAcknowledgment();
    private final PartnerCalls calls = new PartnerCalls();

    @Test
    void callsAgainAnHourLaterWhileThePartnerIsClosed() {
        calls.close();
        DelayMessage<String> message = TestMessage.of("partner", "order-1")
                .failures(2)
                .acknowledgment(settled)
                .delivered();

        calls.call(message);

        assertThat(settled.result()).isEqualTo(Result.FAILED);
        assertThat(settled.retryAfter()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void acknowledgesACall() {
        calls.call(TestMessage.of("partner", "order-1").acknowledgment(settled).delivered());

        assertThat(settled.result()).isEqualTo(Result.ACKNOWLEDGED);
        assertThat(settled.error()).isNull();
    }

    /** What the test class tests. */
    private static final class PartnerCalls {

        private boolean closed;

        void close() {
            closed = true;
        }

        void call(DelayMessage<String> message) {
            if (closed) {
                message.acknowledgment().fail(new IllegalStateException("closed"), Duration.ofHours(1));
            } else {
                message.acknowledgment().acknowledge();
            }
        }
    }
}
