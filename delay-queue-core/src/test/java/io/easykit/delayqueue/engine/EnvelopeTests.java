package io.easykit.delayqueue.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.UndecodableMessageException;
import io.easykit.delayqueue.support.Bytes;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EnvelopeTests {

    private static final Bytes BODY = Bytes.of("{\"order\":1}".getBytes(UTF_8));
    private static final RetryPolicy RETRY =
            new RetryPolicy(7, Duration.ofMillis(1500), 1.5, Duration.ofMinutes(5), 0.25);

    @Test
    void comesBackAsItWas() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("traceparent", "00-abc");
        headers.put("größe", "x".repeat(300));
        headers.put("empty", "");
        Envelope envelope = new Envelope(-42, headers, RETRY, BODY);

        Envelope decoded = Envelope.decode(envelope.encode());

        assertThat(decoded).isEqualTo(envelope);
        assertThat(decoded.headers().keySet()).containsExactly("traceparent", "größe", "empty");
    }

    @Test
    void costsTenBytesWithoutHeadersAndPolicy() {
        Envelope envelope = new Envelope(1, Map.of(), null, BODY);

        assertThat(envelope.encode().length()).isEqualTo(BODY.length() + 10);
        assertThat(Envelope.decode(envelope.encode())).isEqualTo(envelope);
    }

    @Test
    void leadsWithTheIncarnationOfItsNonce() {
        byte[] frame = new Envelope(77, Map.of("a", "b"), null, BODY).encode().array();

        assertThat(Bytes.of(Arrays.copyOf(frame, Envelope.incarnation(77).length())))
                .isEqualTo(Envelope.incarnation(77));
    }

    @Test
    void refusesWhatIsNoFrame() {
        for (String bytes : new String[] {"", "short", "12345678\u0001\u0001\u007f", "12345678\u0001\u0002\u0000"}) {
            assertThatThrownBy(() -> Envelope.decode(Bytes.of(bytes.getBytes(UTF_8))))
                    .as(bytes)
                    .isInstanceOf(UndecodableMessageException.class);
        }
    }

    @Test
    void namesTheVersionThatItCannotRead() {
        assertThatThrownBy(() -> Envelope.decode(Bytes.of("12345678\u0002\u0000body".getBytes(UTF_8))))
                .isInstanceOf(NewerFrameException.class)
                .hasMessageContaining("version 2")
                .hasMessageContaining("Update this node");
        assertThatThrownBy(() -> Envelope.decode(Bytes.of("12345678\u0001\u0004body".getBytes(UTF_8))))
                .isInstanceOf(NewerFrameException.class)
                .hasMessageContaining("parts 100");
        for (String garbage : new String[] {"12345678\u0000\u0000body", "12345678 \u0000body", "{\"orderId\":17}"}) {
            assertThatThrownBy(() -> Envelope.decode(Bytes.of(garbage.getBytes(UTF_8))))
                    .isInstanceOf(UndecodableMessageException.class)
                    .isNotInstanceOf(NewerFrameException.class)
                    .hasMessageContaining("never existed");
        }
    }
}
