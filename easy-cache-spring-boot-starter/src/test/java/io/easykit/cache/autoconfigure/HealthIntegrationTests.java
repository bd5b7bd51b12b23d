package io.easykit.cache.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheSpec;
import io.easykit.cache.CircuitBreakerOptions;
import io.easykit.cache.actuate.ClusterState;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.RefusedWrites;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** A server that answers and takes no writes, and a cache without calls. */
class HealthIntegrationTests {

    /** Generous: the machine may be busy. */
    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** Each check is one script; a few that fail make a server unavailable. */
    private static final int ROUNDS = 2 * CircuitBreakerOptions.defaults().probesToRecover();

    @ParameterizedTest
    @EnumSource
    void isNotUpAndNamesTheReasonWhileTheServerTakesNoWrites(RefusedWrites state) {
        try (RedisServer server = RefusedWrites.start();
                RawRedis redis = server.connect()) {
            application(server).run(context -> {
                HealthIndicator indicator = context.getBean(HealthIndicator.class);
                await().atMost(LONGEST)
                        .until(() -> health(indicator).getStatus().equals(Status.UP));

                state.spoil(redis);
                await().atMost(LONGEST)
                        .until(() -> health(indicator).getStatus().equals(Status.UNKNOWN)
                                && state(indicator).problems().stream().anyMatch(state::isNamedIn));

                state.mend(redis);
                await().atMost(LONGEST)
                        .until(() -> health(indicator).getStatus().equals(Status.UP));
                assertThat(state(indicator).problems()).isEmpty();
                assertThat(redis.command("KEYS", "*probe*")).asString().doesNotContain("probe");
            });
        }
    }

    /** No check times out on a busy machine: after a time-out a full server is not used before it has room. */
    @Test
    void goesOnReadingFromAServerThatIsFull() {
        try (RedisServer server = RefusedWrites.start();
                RawRedis redis = server.connect()) {
            application(server)
                    .withPropertyValues("easy-cache.command-timeout=1m")
                    .run(context -> {
                        HealthIndicator indicator = context.getBean(HealthIndicator.class);
                        await().atMost(LONGEST)
                                .until(() -> health(indicator).getStatus().equals(Status.UP));
                        RefusedWrites.FULL.spoil(redis);
                        await().atMost(LONGEST).until(() -> state(indicator).problems().stream()
                                .anyMatch(RefusedWrites.FULL::isNamedIn));

                        long before = scripts(redis);
                        await().atMost(LONGEST).until(() -> scripts(redis) > before + ROUNDS);

                        assertThat(state(indicator).state()).isEqualTo("available");
                    });
        }
    }

    private static long scripts(RawRedis redis) {
        String stats = redis.info("commandstats").getOrDefault("cmdstat_evalsha", "calls=0,");
        return Long.parseLong(stats.substring("calls=".length(), stats.indexOf(',')));
    }

    private static Health health(HealthIndicator indicator) {
        return Objects.requireNonNull(indicator.health());
    }

    private static ClusterState state(HealthIndicator indicator) {
        return (ClusterState)
                Objects.requireNonNull(health(indicator).getDetails().get(CacheSpec.DEFAULT_CLUSTER));
    }

    private static ApplicationContextRunner application(RedisServer server) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataRedisAutoConfiguration.class,
                        EasyCacheAutoConfiguration.class,
                        EasyCacheHealthAutoConfiguration.class))
                .withPropertyValues(
                        "spring.data.redis.url=" + server.uri(), "easy-cache.circuit-breaker.probe-interval=100ms");
    }
}
