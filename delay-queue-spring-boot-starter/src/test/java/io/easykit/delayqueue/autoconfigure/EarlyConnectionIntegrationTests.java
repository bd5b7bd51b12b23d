package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.DependsOn;

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
}
