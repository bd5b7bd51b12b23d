package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
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

    /** Those that this thread has begun: contexts of other tests connect as well. */
    private static Set<Thread> connecting() {
        ThreadGroup own = Thread.currentThread().getThreadGroup();
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("easykit-redis-connect"))
                .filter(thread -> own.equals(thread.getThreadGroup()))
                .collect(Collectors.toSet());
    }

    /** It would be open in the image. */
    @Test
    void doesNotConnectBeforeAnImageOfTheProcessIsTaken() throws Exception {
        // It keeps the property as it was when the class was loaded, and this JVM takes no images.
        assertThat(new DefaultLifecycleProcessor().isRunning()).isFalse();
        AtomicReference<Set<Thread>> whileCreated = new AtomicReference<>();
        SpringProperties.setProperty(DefaultLifecycleProcessor.CHECKPOINT_PROPERTY_NAME, "onRefresh");
        try (ServerSocket silent = new ServerSocket(0)) {
            FutureTask<Boolean> start = new FutureTask<>(() -> start(silent, whileCreated), true);
            new Thread(new ThreadGroup("only here"), start, "start").start();
            start.get(60, TimeUnit.SECONDS);
        } finally {
            SpringProperties.setProperty(DefaultLifecycleProcessor.CHECKPOINT_PROPERTY_NAME, null);
        }
        assertThat(whileCreated.get()).isEmpty();
    }

    private static void start(ServerSocket silent, AtomicReference<Set<Thread>> whileCreated) {
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
    }
}
