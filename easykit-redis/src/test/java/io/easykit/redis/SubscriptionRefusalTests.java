package io.easykit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.RedisConnectionFailureException;

class SubscriptionRefusalTests {

    @Test
    void namesTheChannelThatTheUserLacks() {
        Throwable failure = new RedisCommandExecutionException("NOPERM No permissions to access a channel");

        assertThat(SubscriptionRefusal.of(failure, "dq:*"))
                .isEqualTo(new SubscriptionRefusal(
                        "NOPERM No permissions to access a channel. Let its user subscribe to dq:*, and publish there",
                        false));
    }

    @Test
    void isFinalIfSpringDataHasNoSubscriptionsWithTheseServers() {
        Throwable failure = new IllegalStateException(new UnsupportedOperationException("Pub/Sub"));

        assertThat(SubscriptionRefusal.of(failure, "dq:*"))
                .extracting(SubscriptionRefusal::isFinal)
                .isEqualTo(true);
    }

    /** It concerns more than subscriptions, and permissions do not mend it. */
    @ParameterizedTest
    @ValueSource(strings = {"NOAUTH Authentication required.", "WRONGPASS invalid username-password pair"})
    void isNoneForALogin(String error) {
        RedisCommandExecutionException reply = new RedisCommandExecutionException(error);

        assertThat(SubscriptionRefusal.of(reply, "dq:*")).isNull();
        assertThat(SubscriptionRefusal.of(
                        new RedisConnectionFailureException(
                                "Unable to connect", new RedisConnectionException("?", reply)),
                        "dq:*"))
                .isNull();
    }

    @Test
    void isNoneForWhatMayPass() {
        assertThat(SubscriptionRefusal.of(new RedisCommandExecutionException("LOADING Redis is loading"), "dq:*"))
                .isNull();
        assertThat(SubscriptionRefusal.of(new RedisConnectionFailureException("The subscriptions have ended"), "dq:*"))
                .isNull();
    }
}
