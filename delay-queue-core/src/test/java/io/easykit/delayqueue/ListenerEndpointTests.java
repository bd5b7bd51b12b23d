package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ListenerEndpointTests {

    static Stream<ListenerEndpoint.Builder> nonsense() {
        return Stream.of(
                listener().concurrency(0),
                listener().batchSize(0),
                listener().batchSize(101),
                listener().lease(Duration.ofMillis(99)),
                listener().lease(Duration.ofDays(400)),
                listener().maxLeaseExpirations(0),
                listener().leaseExpiredDelay(Duration.ofMillis(-1)),
                listener().leaseExpiredDelay(Duration.ofDays(9_999_999_999L)),
                listener().leaseExpiredDelay(Duration.ofDays(3651)),
                listener().leaseExpiredDelay(Duration.ofSeconds(Long.MAX_VALUE)),
                listener().maxLeaseExpirations(1_000_001),
                listener().lease(Duration.ofSeconds(Long.MAX_VALUE)),
                listener().stopTimeout(Duration.ofMillis(-1)),
                listener().stopTimeout(Duration.ofSeconds(Long.MAX_VALUE)),
                listener().deadLetterRetention(Duration.ofDays(9_999_999_999L)),
                listener().deadLetterRetention(Duration.ofSeconds(Long.MAX_VALUE)),
                listener().deadLetterRetention(Duration.ZERO),
                ListenerEndpoint.builder(" ", "orders", String.class),
                ListenerEndpoint.builder("close", "two words", String.class));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void refusesNonsenseAndNamesTheRemedy(ListenerEndpoint.Builder endpoint) {
        assertThatIllegalArgumentException().isThrownBy(endpoint::build).withMessageContaining("give");
    }

    @Test
    void refusesLimitsBelowZero() {
        assertThatIllegalArgumentException().isThrownBy(() -> new AlertLimits(null, -1L, null, null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AlertLimits(Duration.ofSeconds(-1), null, null, null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new AlertLimits(Duration.ofSeconds(Long.MAX_VALUE), null, null, null));
    }

    @Test
    void hasDefaultsThatFitMost() {
        ListenerEndpoint endpoint = listener().build();

        assertThat(endpoint.lease()).isEqualTo(Duration.ofSeconds(30));
        assertThat(endpoint.retry().maxAttempts()).isEqualTo(5);
        assertThat(endpoint.maxLeaseExpirations()).isEqualTo(5);
        assertThat(endpoint.stopTimeout()).isEqualTo(Duration.ofSeconds(20));
        assertThat(endpoint.ackMode()).isEqualTo(AckMode.AUTO);
    }

    private static ListenerEndpoint.Builder listener() {
        return ListenerEndpoint.builder("close", "orders", String.class);
    }
}
