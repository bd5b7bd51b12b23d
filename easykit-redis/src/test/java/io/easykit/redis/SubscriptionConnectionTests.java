package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.backoff.FixedBackOff;

class SubscriptionConnectionTests {

    static Stream<Throwable> causes() {
        return Stream.of(new IllegalStateException("closed"), new OutOfMemoryError("Java heap space"));
    }

    @ParameterizedTest
    @MethodSource("causes")
    void reportsTheLossOfItsSubscriptionsWhateverTheCause(Throwable cause) {
        List<Throwable> lost = new ArrayList<>();
        SubscriptionConnection connection = new SubscriptionConnection(
                new LettuceConnectionFactory(), "test-subscriptions", (broken, failure) -> lost.add(failure));
        connection.afterPropertiesSet();

        connection.handleSubscriptionException(
                CompletableFuture.completedFuture(null), new FixedBackOff(1, 0).start(), cause);

        assertThat(lost).containsExactly(cause);
    }
}
