package io.easykit.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class OrderQueueIntegrationTests {

    @Test
    void deliversWithoutAnApplicationContext() throws InterruptedException {
        RedisServer server = RedisServer.shared();
        LettuceConnectionFactory redis = new LettuceConnectionFactory(server.host(), server.port());
        BlockingQueue<String> closed = new LinkedBlockingQueue<>();
        String order = UUID.randomUUID().toString();

        try (OrderQueue queue = new OrderQueue(redis, Duration.ofSeconds(10), closed::add)) {
            queue.template().send("order-close", order, Duration.ofMillis(100));

            assertThat(closed.poll(1, TimeUnit.MINUTES)).isEqualTo(order);
        }
    }
}
