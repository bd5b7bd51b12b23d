package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Two applications with the same topic on one Redis. */
class KeyPrefixIntegrationTests {

    private final RedisServer server = RedisServer.shared();

    @Test
    void applicationsWithDifferentPrefixesDoNotSeeEachOthersMessages() {
        try (RawRedis redis = server.connect()) {
            redis.command("FLUSHALL");
            application("shop", "2").run(shop -> application("bank", "1").run(bank -> {
                send(shop, "same-id", "of the shop");
                send(bank, "same-id", "of the bank");

                await().until(() -> acknowledged(shop) == 1 && acknowledged(bank) == 1);
                assertThat(got(shop)).containsExactly("of the shop");
                assertThat(got(bank)).containsExactly("of the bank");
                assertThat(redis.snapshot().keySet())
                        .isNotEmpty()
                        .allMatch(key -> key.matches("(shop|bank):dq:\\{(orders:\\d|nodes)}:.*"));
                await().untilAsserted(() -> assertThat((List<?>) redis.command("PUBSUB", "CHANNELS", "*"))
                        .extracting(name -> RawRedis.text((byte[]) name).replaceFirst("echo:.*", "echo"))
                        .containsExactlyInAnyOrder(
                                "shop:dq:{orders:0}:wakeup",
                                "shop:dq:{orders:1}:wakeup",
                                "shop:dq:echo",
                                "bank:dq:{orders:0}:wakeup",
                                "bank:dq:echo"));
            }));
        }
    }

    private ApplicationContextRunner application(String name, String shards) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
                .withBean(Orders.class)
                .withPropertyValues(
                        "spring.data.redis.url=redis://" + server.host() + ":" + server.port(),
                        "spring.application.name=" + name,
                        "delay-queue.command-timeout=10s",
                        "delay-queue.key-prefix=${spring.application.name}:dq:",
                        "delay-queue.topics.orders.shards=" + shards);
    }

    private static void send(ApplicationContext application, String id, String payload) {
        application
                .getBean(DelayQueueTemplate.class)
                .send(OutgoingMessage.of("orders", payload).id(id).after(Duration.ofMillis(100)));
    }

    private static long acknowledged(ApplicationContext application) {
        return application
                .getBean(DelayQueueEngine.class)
                .stats("orders")
                .counters()
                .acknowledged();
    }

    private static List<String> got(ApplicationContext application) {
        return application.getBean(Orders.class).got;
    }

    static class Orders {

        private final List<String> got = new CopyOnWriteArrayList<>();

        @DelayListener(topic = "orders")
        void on(String order) {
            got.add(order);
        }
    }
}
