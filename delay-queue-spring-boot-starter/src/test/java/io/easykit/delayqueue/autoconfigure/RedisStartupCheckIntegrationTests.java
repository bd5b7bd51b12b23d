package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@ExtendWith(OutputCaptureExtension.class)
class RedisStartupCheckIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class));

    @Test
    void warnsOnceOfAnEvictingRedisThatKeepsNothing(CapturedOutput output) {
        try (RedisServer redis = RedisServer.start("--maxmemory-policy", "allkeys-lru")) {
            runner.withPropertyValues("spring.data.redis.url=" + redis.uri()).run(context -> {
                RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
                await().until(() -> check.report().isPresent());

                assertThat(check.report().orElseThrow().warnings()).hasSize(2);
                assertThat(output).containsOnlyOnce("maxmemory-policy is allkeys-lru");
                assertThat(output).containsOnlyOnce("Set appendonly to yes");
            });
        }
    }

    @Test
    void warnsOfSettingsForATopicThatNobodyKnows(CapturedOutput output) {
        try (RedisServer redis = RedisServer.start("--appendonly", "yes")) {
            String url = "spring.data.redis.url=" + redis.uri();
            runner.withPropertyValues(url).run(context -> context.getBean(DelayQueueTemplate.class)
                    .send("sent-elsewhere", 1, Duration.ofHours(1)));
            runner.withBean(Orders.class)
                    .withPropertyValues(
                            url,
                            "delay-queue.topics.orders.concurrency=2",
                            "delay-queue.topics.sent-elsewhere.lease=1m",
                            "delay-queue.topics.oders.concurrency=2")
                    .run(context -> {
                        RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
                        await().until(() -> check.report().isPresent());

                        assertThat(output)
                                .containsOnlyOnce("delay-queue.topics has settings for")
                                .contains("delay-queue.topics has settings for 'oders'");
                    });
        }
    }

    @Test
    void catchesUpWhenRedisComesAfterTheApplication() {
        try (RedisServer redis = RedisServer.start()) {
            redis.kill();
            runner.withBean(Orders.class)
                    .withPropertyValues("spring.data.redis.url=" + redis.uri())
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
                        assertThat(check.report()).isEmpty();

                        redis.restart();

                        await().atMost(Duration.ofSeconds(30))
                                .until(() -> check.report().isPresent());
                        await().atMost(Duration.ofSeconds(30))
                                .untilAsserted(() -> context.getBean(DelayQueueTemplate.class)
                                        .send("orders", "late", Duration.ZERO));
                        assertThat(context.getBean(Orders.class).got.poll(20, TimeUnit.SECONDS))
                                .isEqualTo("late");
                    });
        }
    }

    @Test
    void startsWithARedisThatForbidsConfigAndInfo() {
        try (RedisServer redis = RedisServer.start()) {
            try (RawRedis raw = redis.connect()) {
                raw.command("ACL", "SETUSER", "guest", "on", ">secret", "~*", "&*", "+@all", "-config", "-info");
            }
            runner.withBean(Orders.class)
                    .withPropertyValues(
                            "spring.data.redis.url=redis://guest:secret@" + redis.host() + ":" + redis.port())
                    .run(context -> {
                        RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
                        await().until(() -> check.report().isPresent());
                        assertThat(check.report().orElseThrow().warnings()).isEmpty();

                        context.getBean(DelayQueueTemplate.class).send("orders", "x", Duration.ZERO);
                        assertThat(context.getBean(Orders.class).got.poll(20, TimeUnit.SECONDS))
                                .isEqualTo("x");
                    });
        }
    }

    static class Orders {

        private final BlockingQueue<String> got = new LinkedBlockingQueue<>();

        @DelayListener(topic = "orders")
        void on(String order) {
            got.add(order);
        }
    }
}
