package io.easykit.test.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.annotation.Cacheable;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** What {@code @ServiceConnection} does with a container: both products use the Redis of the connection details. */
@SpringBootTest(
        properties = {
            "spring.data.redis.port=1",
            // The first calls of a cold JVM take long.
            "easy-cache.command-timeout=10s",
            "delay-queue.command-timeout=1m"
        })
class ConnectionDetailsIntegrationTests {

    @SpringBootConfiguration
    @EnableAutoConfiguration
    @Import(Names.class)
    static class Application {

        @Bean
        DataRedisConnectionDetails redis() {
            RedisServer server = RedisServer.shared();
            return new DataRedisConnectionDetails() {
                @Override
                public Standalone getStandalone() {
                    return Standalone.of(server.host(), server.port());
                }
            };
        }
    }

    static class Names {

        @Cacheable(prefix = "connection-details", keys = "#id")
        public String of(String id) {
            return "Ann";
        }
    }

    @Test
    void bothProductsUseThem(@Autowired Names names, @Autowired DelayQueueTemplate queue) {
        String id = UUID.randomUUID().toString();

        queue.send("connection-details", id, Duration.ofHours(1));

        try (RawRedis redis = RedisServer.shared().connect()) {
            assertThat((List<?>) redis.command("KEYS", "dq:{connection-details:*"))
                    .isNotEmpty();
            // Until the cache has connected, calls go on without Redis.
            await().untilAsserted(() -> {
                names.of(id);
                assertThat((List<?>) redis.command("KEYS", "ec:connection-details::*"))
                        .isNotEmpty();
            });
        }
    }
}
