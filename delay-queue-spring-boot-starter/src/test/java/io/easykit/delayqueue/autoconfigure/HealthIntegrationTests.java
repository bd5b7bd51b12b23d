package io.easykit.delayqueue.autoconfigure;

import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.RefusedWrites;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A server that answers, and takes no writes. */
class HealthIntegrationTests {

    /** Generous: the machine may be busy. */
    private static final Duration LONGEST = Duration.ofMinutes(1);

    @ParameterizedTest
    @EnumSource
    void isDownWithTheReasonWhileTheServerTakesNoWrites(RefusedWrites state) {
        try (RedisServer server = RefusedWrites.start();
                RawRedis redis = server.connect()) {
            application(server).run(context -> {
                HealthIndicator indicator = context.getBean(HealthIndicator.class);
                await().atMost(LONGEST)
                        .until(() -> health(indicator).getStatus().equals(Status.UP));

                state.spoil(redis);
                await().atMost(LONGEST)
                        .until(() ->
                                health(indicator).getStatus().equals(Status.DOWN) && state.isNamedIn(error(indicator)));

                state.mend(redis);
                await().atMost(LONGEST)
                        .until(() -> health(indicator).getStatus().equals(Status.UP));
            });
        }
    }

    /** The node sends, and has no listeners. */
    @Test
    void isDownWithoutATopicToo() {
        try (RedisServer server = RefusedWrites.start();
                RawRedis redis = server.connect()) {
            withoutListeners(server).run(context -> {
                HealthIndicator indicator = context.getBean(HealthIndicator.class);
                await().atMost(LONGEST)
                        .until(() -> health(indicator).getStatus().equals(Status.UP));
                RefusedWrites.FULL.spoil(redis);
                await().atMost(LONGEST)
                        .until(() -> health(indicator).getStatus().equals(Status.DOWN)
                                && RefusedWrites.FULL.isNamedIn(error(indicator)));
            });
        }
    }

    private static Health health(HealthIndicator indicator) {
        return Objects.requireNonNull(indicator.health());
    }

    private static String error(HealthIndicator indicator) {
        return String.valueOf(health(indicator).getDetails().get("error"));
    }

    private static ApplicationContextRunner application(RedisServer server) {
        return withoutListeners(server).withBean(Orders.class);
    }

    private static ApplicationContextRunner withoutListeners(RedisServer server) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataRedisAutoConfiguration.class,
                        DelayQueueAutoConfiguration.class,
                        DelayQueueHealthAutoConfiguration.class))
                .withPropertyValues("spring.data.redis.url=" + server.uri());
    }

    static class Orders {

        @DelayListener(topic = "orders")
        void on(String order) {}
    }
}
