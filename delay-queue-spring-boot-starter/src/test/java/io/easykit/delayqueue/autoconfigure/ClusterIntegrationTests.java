package io.easykit.delayqueue.autoconfigure;

import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RedisCluster;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ClusterIntegrationTests {

    @Test
    void usesTheClusterThatTheApplicationUses() {
        try (RedisCluster cluster = RedisCluster.start()) {
            new ApplicationContextRunner()
                    .withConfiguration(
                            AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
                    .withBean(Orders.class)
                    .withPropertyValues(
                            "spring.data.redis.cluster.nodes=" + cluster.addresses(),
                            "spring.data.redis.cluster.max-redirects=3",
                            "delay-queue.command-timeout=5s",
                            "delay-queue.topics.orders.shards=6")
                    .run(context -> {
                        context.getBean(DelayQueueTemplate.class)
                                .sendAll(IntStream.range(0, 60)
                                        .mapToObj(i ->
                                                OutgoingMessage.of("orders", i).id("order-" + i))
                                        .toList());

                        Set<Integer> got = context.getBean(Orders.class).got;
                        await().atMost(Duration.ofSeconds(30)).until(() -> got.size() == 60);
                        await().atMost(Duration.ofSeconds(30)).until(() -> context.getBean(RedisStartupCheck.class)
                                .report()
                                .isPresent());
                    });
        }
    }

    static class Orders {

        private final Set<Integer> got = ConcurrentHashMap.newKeySet();

        @DelayListener(topic = "orders", concurrency = "4")
        void on(int order) {
            got.add(order);
        }
    }
}
