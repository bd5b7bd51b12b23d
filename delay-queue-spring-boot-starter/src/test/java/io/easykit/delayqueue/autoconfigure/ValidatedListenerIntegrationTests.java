package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.RedisServer;
import io.easykit.test.StartFailure;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.validation.autoconfigure.ValidationAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.messaging.handler.annotation.Payload;
import org.springframework.validation.annotation.Validated;

/** Without a web framework, the proxy for validation is made after the listeners are found. */
class ValidatedListenerIntegrationTests {

    private static final String TOPIC = "validated";
    private static final Queue<String> HANDLED = new ConcurrentLinkedQueue<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataRedisAutoConfiguration.class,
                    DelayQueueAutoConfiguration.class,
                    ValidationAutoConfiguration.class))
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s");

    @BeforeEach
    void empty() {
        RedisServer.shared().flush();
        HANDLED.clear();
    }

    @Test
    void failsTheRunOfAnInvalidPayload() {
        runner.withBean(Orders.class).run(context -> {
            send(context);

            awaitOneValid(context);
        });
    }

    /** Its type is unknown before, so the start does not refuse it. Its messages wait already. */
    @Test
    void failsTheRunOfAnInvalidPayloadOfABeanThatIsCreatedLate() {
        runner.withUserConfiguration(LateOrders.class).run(context -> {
            send(context);

            assertThat(context.getBean("late")).isInstanceOf(Orders.class);

            awaitOneValid(context);
        });
    }

    private static void send(ApplicationContext context) {
        DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
        template.send(TOPIC, " ", Duration.ZERO);
        template.send(TOPIC, "one", Duration.ZERO);
    }

    private static void awaitOneValid(ApplicationContext context) {
        DelayQueueEngine engine = context.getBean(DelayQueueEngine.class);
        await().until(() ->
                engine.stats(TOPIC).dead() + engine.stats(TOPIC).counters().acknowledged() == 2);
        assertThat(engine.stats(TOPIC).dead()).isEqualTo(1);
        assertThat(HANDLED).containsExactly("one");
    }

    @Test
    void failsTheRunOfAPayloadWithAnInvalidField() {
        runner.withBean(ValidOrders.class).run(context -> {
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            template.send(TOPIC, new Order(" "), Duration.ZERO);
            template.send(TOPIC, new Order("one"), Duration.ZERO);

            awaitOneValid(context);
        });
    }

    @Test
    void refusesAMethodThatTheProxyOfValidationDoesNotHave() {
        runner.withPropertyValues("spring.aop.proxy-target-class=false")
                .withBean(NamedOrders.class)
                .run(context -> assertThat(StartFailure.analysis(context.getStartupFailure()))
                        .satisfies(analysis -> {
                            assertThat(analysis.getDescription()).contains("the bean has an interface proxy");
                            assertThat(analysis.getAction()).contains("spring.aop.proxy-target-class");
                        }));
    }

    @Validated
    static class Orders {

        @DelayListener(topic = TOPIC, maxAttempts = "1")
        public void on(@NotBlank String order) {
            HANDLED.add(order);
        }
    }

    record Order(@NotBlank String id) {}

    @Validated
    static class ValidOrders {

        @DelayListener(topic = TOPIC, maxAttempts = "1")
        public void on(@Payload @Valid Order order) {
            HANDLED.add(order.id());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LateOrders {

        @Bean
        @Lazy
        Object late() {
            return new Orders();
        }
    }

    interface Named {

        String name();
    }

    @Validated
    static class NamedOrders implements Named {

        @Override
        public String name() {
            return TOPIC;
        }

        @DelayListener(topic = TOPIC)
        public void on(@NotBlank String order) {
            HANDLED.add(order);
        }
    }
}
