package io.easykit.delayqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ListenerEndpointTests {

    private static final IdempotencyStore NO_STORE = (topic, uniqueId, handler) -> false;

    private static final IdempotencyStore KEEPS_TWO_MINUTES = new IdempotencyStore() {
        @Override
        public boolean runOnce(String topic, String uniqueId, Work handler) {
            return false;
        }

        @Override
        public Duration retention() {
            return Duration.ofMinutes(2);
        }
    };

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
                listener()
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .maxLeaseExpirations(1)
                        .lease(Duration.ofMinutes(1))
                        .leaseExpiredDelay(Duration.ofMinutes(1))
                        .idempotencyStore(KEEPS_TWO_MINUTES),
                listener()
                        .retry(RetryPolicy.fixed(1, Duration.ZERO))
                        .maxLeaseExpirations(4)
                        .lease(Duration.ofSeconds(30))
                        .idempotencyStore(KEEPS_TWO_MINUTES),
                listener()
                        .retry(RetryPolicy.exponential(7, Duration.ofSeconds(1), Duration.ofMinutes(1)))
                        .maxLeaseExpirations(1)
                        .lease(Duration.ofSeconds(57))
                        .idempotencyStore(KEEPS_TWO_MINUTES),
                listener().idempotencyStore(NO_STORE).batchSize(2),
                listener().idempotencyStore(NO_STORE).ackMode(AckMode.MANUAL),
                ListenerEndpoint.builder(" ", "orders", String.class),
                ListenerEndpoint.builder("close", "two words", String.class));
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void refusesNonsenseAndNamesTheRemedy(ListenerEndpoint.Builder endpoint) {
        assertThatIllegalArgumentException().isThrownBy(endpoint::build).withMessageContaining("give");
    }

    @Test
    void takesRecordsThatOutliveTheirMessage() {
        ListenerEndpoint endpoint = listener()
                .retry(RetryPolicy.exponential(7, Duration.ofSeconds(1), Duration.ofMinutes(1)))
                .maxLeaseExpirations(1)
                .lease(Duration.ofSeconds(56))
                .idempotencyStore(KEEPS_TWO_MINUTES)
                .build();

        assertThat(endpoint.idempotencyStore()).isNotNull();
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
