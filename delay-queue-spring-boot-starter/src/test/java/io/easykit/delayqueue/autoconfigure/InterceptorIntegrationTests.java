package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayListenerInterceptor;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.SendInterceptor;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.propagation.CommonHeaders;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/** Interceptors of an application, with the example of {@code docs/delay-queue/listeners.md}. */
class InterceptorIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withBean(Orders.class)
            .withPropertyValues(
                    "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s");

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @AfterEach
    void clear() {
        Tenant.clear();
        MDC.clear();
    }

    @Test
    void bringTheTenantOfTheSendToTheListener() {
        runner.withUserConfiguration(Example.class).run(context -> {
            Tenant.set("acme");
            context.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);

            await().untilAsserted(
                            () -> assertThat(context.getBean(Orders.class).seen).containsExactly("acme null"));
        });
    }

    @Test
    void areAppliedByTheirOrderAndMayDependOnTheTemplate() {
        runner.withUserConfiguration(Ordered.class).run(context -> {
            context.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);

            await().untilAsserted(
                            () -> assertThat(context.getBean(Orders.class).seen).hasSize(1));
            assertThat(context.getBean(Ordered.class).calls).containsExactly("first", "second", "audit:1");
            assertThatThrownBy(() -> context.getBean(DelayQueueTemplate.class).send("forbidden", "1", Duration.ZERO))
                    .hasMessage("no");
        });
    }

    @Test
    void bringEntriesOfTheMdcToTheListener() {
        runner.withPropertyValues("delay-queue.propagation.mdc=tenant, requestId")
                .run(context -> {
                    MDC.put("tenant", "acme");
                    MDC.put("password", "secret");
                    context.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);

                    await().untilAsserted(() ->
                            assertThat(context.getBean(Orders.class).seen).containsExactly("null acme"));
                    assertThat(context.getBean(Orders.class).password).containsExactly("null");
                });
    }

    @Test
    void sendNothingOfTheMdcByDefault() {
        runner.run(context -> {
            MDC.put("tenant", "acme");
            context.getBean(DelayQueueTemplate.class).send("orders", "1", Duration.ZERO);

            await().untilAsserted(
                            () -> assertThat(context.getBean(Orders.class).seen).containsExactly("null null"));
        });
    }

    @Test
    void refuseANameOfNoEntry() {
        runner.withPropertyValues("delay-queue.propagation.mdc=tenant,,requestId")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("delay-queue.propagation.mdc is [tenant, , requestId]"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class Application {}

    @Configuration(proxyBeanMethods = false)
    static class Example {

        @Bean
        SendInterceptor tenantHeader() {
            return SendInterceptor.forEach(message -> message.header("tenant", Tenant.current()));
        }

        @Bean
        DelayListenerInterceptor tenantOfTheMessage() {
            return (endpoint, messages, handler) -> {
                Tenant.set(CommonHeaders.value(messages, "tenant"));
                try {
                    handler.handle(messages);
                } finally {
                    Tenant.clear();
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Ordered {

        private final List<String> calls = new CopyOnWriteArrayList<>();

        @Bean
        @Order(2)
        SendInterceptor second(DelayQueueTemplate template) {
            return SendInterceptor.forEach(message -> {
                if (message.topic().equals("orders")) {
                    calls.add("second");
                    template.send("audit", message.payload(), Duration.ofHours(1));
                }
                return message;
            });
        }

        @Bean
        @Order(1)
        SendInterceptor first() {
            return SendInterceptor.forEach(message -> {
                if (message.topic().equals("forbidden")) {
                    throw new IllegalArgumentException("no");
                }
                calls.add(message.topic().equals("audit") ? "audit:" + message.payload() : "first");
                return message;
            });
        }
    }

    static final class Orders {

        private final List<String> seen = new CopyOnWriteArrayList<>();
        private final List<String> password = new CopyOnWriteArrayList<>();

        @DelayListener(topic = "orders")
        void on(String order) {
            password.add(String.valueOf(MDC.get("password")));
            seen.add(Tenant.value() + " " + MDC.get("tenant"));
        }
    }

    static final class Tenant {

        private static final ThreadLocal<@Nullable String> CURRENT = new ThreadLocal<>();

        static void set(@Nullable String tenant) {
            CURRENT.set(tenant);
        }

        static String current() {
            String tenant = CURRENT.get();
            return tenant == null ? "none" : tenant;
        }

        static @Nullable String value() {
            return CURRENT.get();
        }

        static void clear() {
            CURRENT.remove();
        }
    }
}
