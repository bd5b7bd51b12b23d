package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** An application that uses Redis through Jedis. */
class JedisIntegrationTests {

    private static final int SHARDS = 3;

    /** The command timeout, with allowance for a busy machine. The default timeout of Jedis is two seconds and more. */
    private static final Duration SOON = Duration.ofMillis(1_500);

    @Test
    void deliversFromAllShardsWithTheirWakeupsAndLeavesNoThread() {
        Set<Thread> before = threadsOfTheQueue();
        try (RedisServer server = RedisServer.start();
                RawRedis redis = server.connect()) {
            application(server).run(context -> {
                assertThat(context).hasSingleBean(JedisConnectionFactory.class);
                await().until(() -> IntStream.range(0, SHARDS).allMatch(n -> isHeard(redis, n)));
                DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
                // The first connection may take longer than the timeout.
                IntStream.range(0, 30)
                        .mapToObj(i -> OutgoingMessage.of("orders", i).id("m" + i))
                        .forEach(message -> await().ignoreExceptions().until(() -> {
                            template.send(message);
                            return true;
                        }));
                await().until(() -> context.getBean(Orders.class).got.size() == 30);
                await().until(() -> acknowledged(context.getBean(DelayQueueEngine.class)) == 30);
            });
        }
        await().until(() -> before.containsAll(threadsOfTheQueue()));
    }

    @Test
    void callsOfARedisThatHangsEndSoonAndDeliveryGoesOnAfterwards() {
        try (RedisServer server = RedisServer.start("--appendonly", "yes")) {
            application(server).run(context -> {
                DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
                Orders orders = context.getBean(Orders.class);
                await().until(() -> sends(template));
                await().until(() -> !orders.got.isEmpty());

                server.pause();
                Duration shortest = Duration.ofDays(1);
                for (int i = 0; i < 5; i++) {
                    long began = System.nanoTime();
                    assertThatThrownBy(() -> template.send("orders", 2, Duration.ZERO))
                            .isInstanceOf(StoreUnavailableException.class);
                    shortest = Collections.min(List.of(shortest, Duration.ofNanos(System.nanoTime() - began)));
                }
                assertThat(shortest).isLessThan(SOON);
                server.resume();
                await().until(() -> sends(template));

                server.kill();
                assertThat(sends(template)).isFalse();
                server.restart();
                await().until(() -> sends(template));
                await().ignoreExceptions().until(() -> {
                    template.send(OutgoingMessage.of("orders", 3).id("last"));
                    return orders.got.contains("last");
                });
            });
        }
    }

    private static boolean sends(DelayQueueTemplate template) {
        try {
            template.send("orders", 2, Duration.ZERO);
            return true;
        } catch (StoreUnavailableException away) {
            return false;
        }
    }

    private static ApplicationContextRunner application(RedisServer server) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
                .withBean(Orders.class)
                .withPropertyValues(
                        "spring.data.redis.url=" + server.uri(),
                        "spring.data.redis.client-type=jedis",
                        "delay-queue.topics.orders.shards=" + SHARDS);
    }

    private static Set<Thread> threadsOfTheQueue() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("delay-queue-"))
                .collect(Collectors.toSet());
    }

    private static boolean isHeard(RawRedis redis, int shard) {
        Object hearers = redis.command("PUBLISH", "dq:{orders:" + shard + "}:wakeup", "");
        return Objects.equals(hearers, 1L);
    }

    private static long acknowledged(DelayQueueEngine engine) {
        return engine.stats("orders").shards().stream()
                .mapToLong(shard -> shard.counters().acknowledged())
                .sum();
    }

    static class Orders {

        private final Set<String> got = ConcurrentHashMap.newKeySet();

        @DelayListener(topic = "orders", concurrency = "2")
        void on(DelayMessage<Integer> order) {
            got.add(order.id());
        }
    }
}
