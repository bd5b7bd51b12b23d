package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.listener.DelayListenerRegistry;
import io.easykit.test.StartFailure;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Settings in environment variables and in system properties. */
@ExtendWith(OutputCaptureExtension.class)
class EnvironmentVariablesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
            .withBean(Orders.class)
            .withPropertyValues("spring.data.redis.port=1", "delay-queue.auto-startup=false");

    @Test
    void areReadInTheDocumentedSpelling(CapturedOutput output) {
        with(Map.of("DELAYQUEUE_DEFAULTS_MAXATTEMPTS", "8", "DELAYQUEUE_TOPICS_ORDER_LEASE", "2m"))
                .run(context -> assertThat(context.getBean(DelayListenerRegistry.class)
                                .container("order")
                                .orElseThrow()
                                .endpoint())
                        .satisfies(endpoint -> {
                            assertThat(endpoint.retry().maxAttempts()).isEqualTo(8);
                            assertThat(endpoint.lease()).isEqualTo(Duration.ofMinutes(2));
                        }));
        assertThat(output).doesNotContain("No setting of delay-queue");
    }

    @Test
    void areNamedIfTheySetNothing(CapturedOutput output) {
        with(Map.of(
                        "DELAYQUEUE_TOPICS_ORDER_CLOSE_LEASE", "1m",
                        "DELAY_QUEUE_TOPICS_ORDER_LEASE", "1m",
                        "DELAYQUEUE_DEFAULTS_TLL", "5m",
                        "DELAY_QUEUE_SERVICE_HOST", "10.0.0.11",
                        "DELAY_QUEUE_PORT", "tcp://10.0.0.11:6379"))
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output.getAll().lines().filter(line -> line.contains("No setting of delay-queue")))
                .satisfiesExactlyInAnyOrder(
                        line -> assertThat(line)
                                .contains("WARN")
                                .contains("DELAYQUEUE_TOPICS_ORDER_CLOSE_LEASE")
                                .contains("SPRING_APPLICATION_JSON"),
                        line -> assertThat(line)
                                .contains(
                                        "DELAY_QUEUE_TOPICS_ORDER_LEASE. Rename it to DELAYQUEUE_TOPICS_ORDER_LEASE."),
                        line -> assertThat(line)
                                .contains("DELAYQUEUE_DEFAULTS_TLL")
                                .contains("SPRING_APPLICATION_JSON"));
    }

    @Test
    void failTheStartAsSystemPropertiesIfTheyAreUnknown() {
        runner.withSystemProperties("delay-queue.defaults.tll=5m").run(context -> assertThat(
                        StartFailure.analysis(context.getStartupFailure()).getDescription())
                .contains("delay-queue.defaults.tll")
                .contains("does not exist"));
    }

    private ApplicationContextRunner with(Map<String, Object> variables) {
        return runner.withInitializer(context -> context.getEnvironment()
                .getPropertySources()
                .replace("systemEnvironment", new SystemEnvironmentPropertySource("systemEnvironment", variables)));
    }

    static class Orders {

        @DelayListener(topic = "order")
        void on(String order) {}

        @DelayListener(topic = "order-close")
        void close(String order) {}
    }
}
