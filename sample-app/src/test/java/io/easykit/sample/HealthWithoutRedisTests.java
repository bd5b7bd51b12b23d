package io.easykit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.autoconfigure.EasyCacheAutoConfiguration;
import io.easykit.cache.autoconfigure.EasyCacheHealthAutoConfiguration;
import io.easykit.delayqueue.autoconfigure.DelayQueueAutoConfiguration;
import io.easykit.delayqueue.autoconfigure.DelayQueueHealthAutoConfiguration;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.health.DataRedisHealthContributorAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** What Spring Boot makes of the health of both products while Redis is away. */
class HealthWithoutRedisTests {

    private static final Duration LONGEST = Duration.ofMinutes(1);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    AopAutoConfiguration.class,
                    ApplicationAvailabilityAutoConfiguration.class,
                    AvailabilityHealthContributorAutoConfiguration.class,
                    AvailabilityProbesAutoConfiguration.class,
                    HealthContributorRegistryAutoConfiguration.class,
                    HealthEndpointAutoConfiguration.class,
                    DataRedisAutoConfiguration.class,
                    DataRedisHealthContributorAutoConfiguration.class,
                    EasyCacheAutoConfiguration.class,
                    EasyCacheHealthAutoConfiguration.class,
                    DelayQueueAutoConfiguration.class,
                    DelayQueueHealthAutoConfiguration.class))
            .withPropertyValues("spring.data.redis.port=1", "delay-queue.auto-startup=false");

    /** As Spring Boot does at the end of a start. */
    private static HealthEndpoint started(ApplicationContext context) {
        AvailabilityChangeEvent.publish(context, LivenessState.CORRECT);
        AvailabilityChangeEvent.publish(context, ReadinessState.ACCEPTING_TRAFFIC);
        HealthEndpoint health = context.getBean(HealthEndpoint.class);
        await().atMost(LONGEST).until(() -> status(health, "easyCache").equals(Status.UNKNOWN));
        return health;
    }

    private static Status status(HealthEndpoint health, String... path) {
        return Objects.requireNonNull(health.healthForPath(path)).getStatus();
    }

    @Test
    void theTotalIsDownAndReadinessIsUp() {
        runner.run(context -> {
            HealthEndpoint health = started(context);

            assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
            assertThat(status(health, "redis")).isEqualTo(Status.DOWN);
            assertThat(status(health, "delayQueue")).isEqualTo(Status.DOWN);
            assertThat(status(health, "readiness")).isEqualTo(Status.UP);
        });
    }

    @Test
    void theCacheLeavesTheTotalUp() {
        runner.withPropertyValues("management.health.redis.enabled=false", "management.health.delayQueue.enabled=false")
                .run(context ->
                        assertThat(started(context).health().getStatus()).isEqualTo(Status.UP));
    }
}
