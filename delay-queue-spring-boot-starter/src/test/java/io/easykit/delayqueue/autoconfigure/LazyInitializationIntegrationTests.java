package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RedisServer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** With {@code spring.main.lazy-initialization} the beans of the starter exist even if no other bean depends on them. */
class LazyInitializationIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withInitializer(
                    context -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
            .withUserConfiguration(Application.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void hasTheMetersOfListenersFromTheStart() {
        runner.run(context -> {
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertThat(meters.find("delayqueue.available").gauge()).isNotNull();
            assertThat(meters.find("delayqueue.handlers.places")
                            .tag("topic", "failing")
                            .gauges())
                    .isNotEmpty();
        });
    }

    @Test
    void hasTheMetersOfTheOutboxFromTheStart() {
        runner.withPropertyValues("delay-queue.outbox.enabled=true", "spring.datasource.url=jdbc:h2:mem:lazy")
                .run(context -> assertThat(context.getBean(MeterRegistry.class)
                                .find("delayqueue.outbox.waiting")
                                .gauge())
                        .isNotNull());
    }

    @Test
    void publishesDeathsAsEvents() {
        runner.run(context -> {
            context.getBean(DelayQueueTemplate.class).send("failing", "x", Duration.ZERO);

            BlockingQueue<DelayQueueEvent.Died> died = context.getBean(Deaths.class).died;
            await().until(() -> !died.isEmpty());
            assertThat(died.element().topic()).isEqualTo("failing");
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        Failing failing() {
            return new Failing();
        }

        @Bean
        Deaths deaths() {
            return new Deaths();
        }
    }

    static class Failing {

        @DelayListener(topic = "failing", maxAttempts = "1")
        void fail(String payload) {
            throw new IllegalStateException(payload);
        }
    }

    static class Deaths {

        private final BlockingQueue<DelayQueueEvent.Died> died = new LinkedBlockingQueue<>();

        @EventListener
        void onDied(DelayQueueEvent.Died event) {
            died.add(event);
        }
    }
}
