package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.core.SpringProperties;

/** The first listener waits for a reply of Redis when it starts. The connection is opened while other beans are created. */
class EarlyConnectionIntegrationTests {

    @Configuration(proxyBeanMethods = false)
    static class Application {

        /** Created after the store, and before anything has started. */
        @Bean
        @DependsOn("delayQueueStore")
        String slowBean(RawRedis redis) {
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> redis.info("clients").get("connected_clients"), "2"::equals);
            return "created";
        }
    }

    @Test
    void connectsWhileOtherBeansAreCreated() {
        try (RedisServer server = RedisServer.start();
                RawRedis redis = server.connect()) {
            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
                    .withPropertyValues("spring.data.redis.url=" + server.uri())
                    .withBean(RawRedis.class, () -> redis)
                    .withUserConfiguration(Application.class)
                    .run(context -> assertThat(context).hasNotFailed().hasBean("slowBean"));
        }
    }

    private static Set<Thread> connecting() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("easykit-redis-connect"))
                .collect(Collectors.toSet());
    }

    /** It would be open in the image. */
    @Test
    void doesNotConnectBeforeAnImageOfTheProcessIsTaken() throws IOException {
        // It keeps the property as it was when the class was loaded, and this JVM takes no images.
        assertThat(new DefaultLifecycleProcessor().isRunning()).isFalse();
        Set<Thread> others = connecting();
        AtomicReference<Set<Thread>> whileCreated = new AtomicReference<>();
        SpringProperties.setProperty(DefaultLifecycleProcessor.CHECKPOINT_PROPERTY_NAME, "onRefresh");
        try (ServerSocket silent = new ServerSocket(0)) {
            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
                    .withPropertyValues("spring.data.redis.port=" + silent.getLocalPort())
                    .withBean(
                            "afterTheStore",
                            String.class,
                            () -> {
                                whileCreated.set(connecting());
                                return "";
                            },
                            definition -> definition.setDependsOn("delayQueueStore"))
                    .run(context -> assertThat(context).hasNotFailed());
        } finally {
            SpringProperties.setProperty(DefaultLifecycleProcessor.CHECKPOINT_PROPERTY_NAME, null);
        }
        assertThat(whileCreated.get()).isSubsetOf(others);
    }
}
