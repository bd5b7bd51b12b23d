package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;

@ExtendWith(OutputCaptureExtension.class)
class RedisStartupCheckIntegrationTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(DataRedisAutoConfiguration.class, DelayQueueAutoConfiguration.class))
            // A busy machine may be slow to connect.
            .withPropertyValues("delay-queue.command-timeout=2s");

    /** Contexts of other classes may be open. */
    private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

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
            String sharded = "delay-queue.topics.sent-elsewhere.shards=4";
            // "c" is in the last shard; the first one is empty.
            runner.withPropertyValues(url, "delay-queue.defaults.shards=4").run(context -> context.getBean(
                            DelayQueueTemplate.class)
                    .send(OutgoingMessage.of("sent-elsewhere", 1).id("c").after(Duration.ofHours(1))));
            runner.withBean(Orders.class)
                    .withPropertyValues(
                            url,
                            sharded,
                            "delay-queue.topics.orders.concurrency=2",
                            "delay-queue.topics.sent-elsewhere.lease=1m",
                            "delay-queue.topics.oders.concurrency=2")
                    .run(context -> {
                        awaitEndOfCheck(context);

                        assertThat(output)
                                .containsOnlyOnce("delay-queue.topics has settings for")
                                .contains("delay-queue.topics has settings for 'oders'");
                        assertThat(context.getBean(DelayQueueEngine.class)
                                        .stats("sent-elsewhere")
                                        .shards()
                                        .get(0)
                                        .counters()
                                        .sent())
                                .isZero();
                    });
        }
    }

    @Test
    void repeatsTheCheckAfterAnError(CapturedOutput output) {
        AtomicInteger errors = new AtomicInteger(1);
        try (RedisServer redis = RedisServer.start("--maxmemory-policy", "allkeys-lru")) {
            runner.withBean(
                            BeanPostProcessor.class,
                            () -> beforeCalls((call, topic) -> {
                                if (call.equals("prepare") && errors.getAndDecrement() > 0) {
                                    throw new OutOfMemoryError("unable to create native thread");
                                }
                            }))
                    .withPropertyValues("spring.data.redis.url=" + redis.uri())
                    .run(context -> {
                        awaitEndOfCheck(context);

                        assertThat(output).containsOnlyOnce("maxmemory-policy is allkeys-lru");
                    });
        }
    }

    @Test
    void endsWithItsContextAlthoughACallTakesTheInterrupt() {
        CountDownLatch called = new CountDownLatch(1);
        try (RedisServer redis = RedisServer.start()) {
            runner.withBean(
                            BeanPostProcessor.class,
                            () -> beforeCalls((call, topic) -> {
                                if (call.equals("prepare")) {
                                    called.countDown();
                                    waitForAnInterrupt();
                                    throw new IllegalStateException("interrupted");
                                }
                            }))
                    .withPropertyValues(url(redis))
                    .run(context -> called.await());

            await().until(() -> !isChecking());
        }
    }

    private static void waitForAnInterrupt() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException taken) {
            // As a client may do.
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"declared", "stats"})
    void repeatsOnlyTheTopicsThatGotNoReply(String lost, CapturedOutput output) {
        AtomicBoolean away = new AtomicBoolean(true);
        Map<String, Integer> calls = new ConcurrentHashMap<>();
        try (RedisServer redis = RedisServer.start()) {
            runner.withPropertyValues(url(redis)).run(context -> Stream.of("a", "b", "c")
                    .forEach(topic -> context.getBean(QueueBackend.class).declare(topic, 2)));
            try (RawRedis raw = redis.connect()) {
                raw.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            }
            runner.withBean(
                            BeanPostProcessor.class,
                            () -> beforeCalls((call, topic) -> {
                                calls.merge(call + " " + topic, 1, Integer::sum);
                                if (call.equals(lost) && topic.equals("b") && away.get()) {
                                    throw new StoreUnavailableException(
                                            "The shard is away", new IllegalStateException());
                                }
                            }))
                    .withPropertyValues(url(redis), setting("a"), setting("b"), setting("c"))
                    .run(context -> {
                        RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
                        await().until(() -> check.report().isPresent());
                        await().until(() -> calls.getOrDefault(lost + " b", 0) >= 3);
                        assertThat(output)
                                .contains("has settings for 'a'", "has settings for 'c'")
                                .doesNotContain("has settings for 'b'");

                        away.set(false);
                        awaitEndOfCheck(context);

                        assertThat(output)
                                .containsOnlyOnce("maxmemory-policy is allkeys-lru")
                                .containsOnlyOnce("has settings for 'a'")
                                .containsOnlyOnce("has settings for 'b'")
                                .containsOnlyOnce("has settings for 'c'");
                        assertThat(calls)
                                .containsEntry("prepare ", 1)
                                .containsEntry("declared a", 1)
                                .containsEntry("stats a", 2);
                    });
        }
    }

    @Test
    void leavesOutATopicThatRedisRefuses(CapturedOutput output) {
        try (RedisServer redis = RedisServer.start("--maxmemory-policy", "allkeys-lru")) {
            try (RawRedis raw = redis.connect()) {
                raw.command("ACL", "SETUSER", "guest", "on", ">secret", "~dq:{a:*", "~dq:{c:*", "&*", "+@all");
            }
            runner.withPropertyValues(
                            "spring.data.redis.url=redis://guest:secret@" + redis.host() + ":" + redis.port(),
                            setting("a"),
                            setting("b"),
                            setting("c"))
                    .run(context -> {
                        awaitEndOfCheck(context);

                        assertThat(output)
                                .containsOnlyOnce("maxmemory-policy is allkeys-lru")
                                .containsOnlyOnce("has settings for 'a'")
                                .containsOnlyOnce("has settings for 'c'")
                                .doesNotContain("has settings for 'b'");
                    });
        }
    }

    private static String url(RedisServer redis) {
        return "spring.data.redis.url=" + redis.uri();
    }

    private static String setting(String topic) {
        return "delay-queue.topics." + topic + ".lease=1m";
    }

    private void awaitEndOfCheck(ApplicationContext context) {
        RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
        await().until(() -> check.report().isPresent() && !isChecking());
    }

    private boolean isChecking() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("delay-queue-check") && !threadsBefore.contains(thread));
    }

    /** @param fault gets the name of each call of the store, and its topic or nothing */
    private static BeanPostProcessor beforeCalls(BiConsumer<String, String> fault) {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String beanName) {
                return bean instanceof QueueBackend store ? faulty(store, fault) : bean;
            }
        };
    }

    private static Object faulty(QueueBackend store, BiConsumer<String, String> fault) {
        return Proxy.newProxyInstance(
                QueueBackend.class.getClassLoader(),
                new Class<?>[] {QueueBackend.class},
                (proxy, method, arguments) -> {
                    Object first = arguments == null || arguments.length == 0 ? "" : arguments[0];
                    fault.accept(method.getName(), first instanceof ShardKey shard ? shard.topic() : first.toString());
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void loadsTheScriptsOnceAndAsksForTheHealthOfASenderWithOneReadAndOneWrite() {
        try (RedisServer redis = RedisServer.start()) {
            runner.withConfiguration(AutoConfigurations.of(DelayQueueHealthAutoConfiguration.class))
                    .withPropertyValues("spring.data.redis.url=" + redis.uri())
                    .run(context -> {
                        RedisStartupCheck check = context.getBean(RedisStartupCheck.class);
                        await().until(() -> check.report().isPresent());
                        context.getBean(DelayQueueEngine.class).leave(); // heartbeats would be counted
                        try (RawRedis raw = redis.connect()) {
                            assertThat(raw.info("commandstats").keySet())
                                    .anyMatch(RedisStartupCheckIntegrationTests::isScriptLoad);
                            raw.command("CONFIG", "RESETSTAT");
                            HealthIndicator health = context.getBean(HealthIndicator.class);

                            assertThat(health.health().getStatus()).isEqualTo(Status.UP);

                            Map<String, String> calls = raw.info("commandstats");
                            assertThat(calls.keySet())
                                    .noneMatch(RedisStartupCheckIntegrationTests::isScriptLoad)
                                    .doesNotContain("cmdstat_eval");
                            assertThat(calls.get("cmdstat_evalsha")).startsWith("calls=2,");
                            assertThat(raw.snapshot().values())
                                    .as("keys that stay")
                                    .allMatch(key -> key.pttl() > 0 && key.pttl() <= 1000);
                            redis.kill();
                            assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
                        }
                    });
        }
    }

    /** Newer servers add the name of the subcommand. */
    private static boolean isScriptLoad(String statistic) {
        return statistic.startsWith("cmdstat_script");
    }

    @Test
    void refusesAnotherShardCountThanRedisHasAndSaysWhatToDo() {
        try (RedisServer redis = RedisServer.start()) {
            String url = "spring.data.redis.url=" + redis.uri();
            runner.withPropertyValues(url, "delay-queue.topics.orders.shards=4")
                    .run(context -> context.getBean(DelayQueueTemplate.class).send("orders", 1, Duration.ofHours(1)));
            runner.withBean(Orders.class)
                    .withPropertyValues(url, "delay-queue.topics.orders.shards=1")
                    .run(context -> assertThat(context).getFailure().satisfies(failure -> assertThat(
                                    new TopicConflictFailureAnalyzer().analyze(failure))
                            .satisfies(analysis -> {
                                assertThat(analysis.getDescription())
                                        .contains("has 4 shards")
                                        .contains("settings say 1");
                                assertThat(analysis.getAction()).contains("Set 4");
                            })));
            try (RawRedis raw = redis.connect()) {
                raw.command("HDEL", "dq:{orders:0}:settings", "shards");
            }
            runner.withBean(Orders.class).withPropertyValues(url).run(context -> assertThat(context)
                    .hasNotFailed());
        }
    }

    @Test
    void followsTheShardCountOfRedisWhereNoneIsSet() {
        try (RedisServer redis = RedisServer.start()) {
            String url = "spring.data.redis.url=" + redis.uri();
            runner.withPropertyValues(url, "delay-queue.topics.orders.shards=4")
                    .run(context -> sendToEachShard(context.getBean(DelayQueueTemplate.class)));
            runner.withPropertyValues(url).run(context -> sendToEachShard(context.getBean(DelayQueueTemplate.class)));

            runner.withBean(Orders.class).withPropertyValues(url).run(context -> {
                Orders orders = context.getBean(Orders.class);
                await().atMost(Duration.ofSeconds(30)).until(() -> orders.got.size() == 80);
                assertThat(context.getBean(DelayQueueEngine.class)
                                .stats("orders")
                                .shards())
                        .hasSize(4);
            });
        }
    }

    @Test
    void listensToEachShardAlthoughRedisDidNotAnswerAtTheStart() {
        try (RedisServer redis = RedisServer.start();
                TcpProxy line = TcpProxy.to(redis)) {
            runner.withPropertyValues("spring.data.redis.url=" + redis.uri(), "delay-queue.topics.orders.shards=4")
                    .run(context -> sendToEachShard(context.getBean(DelayQueueTemplate.class)));
            line.cut();
            runner.withBean(Orders.class)
                    .withPropertyValues("spring.data.redis.url=redis://localhost:" + line.port())
                    .run(context -> {
                        assertThat(context).hasNotFailed();

                        line.heal();

                        Orders orders = context.getBean(Orders.class);
                        await().atMost(Duration.ofSeconds(30)).until(() -> orders.got.size() == 40);
                    });
        }
    }

    private static void sendToEachShard(DelayQueueTemplate template) {
        template.sendAll(IntStream.range(0, 40)
                .mapToObj(i ->
                        OutgoingMessage.of("orders", i).id(UUID.randomUUID().toString()))
                .toList());
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
                                .ignoreExceptions()
                                .untilAsserted(() -> context.getBean(DelayQueueTemplate.class)
                                        .send("orders", "late", Duration.ZERO));
                        assertThat(context.getBean(Orders.class).got.poll(20, TimeUnit.SECONDS))
                                .isEqualTo("late");
                    });
        }
    }

    @Test
    void startsWithAWrongPasswordAndRecoversByItself(CapturedOutput output) {
        try (RedisServer redis = RedisServer.start("--requirepass", "secret")) {
            runner.withBean(Orders.class)
                    .withPropertyValues("spring.data.redis.url=" + redis.uri().replace("secret", "wrong"))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        await().until(() -> output.getOut().contains("Delivery of"));
                        assertThat(output).contains("WRONGPASS");
                        try (RawRedis raw = redis.connect()) {
                            raw.command("CONFIG", "SET", "requirepass", "wrong");
                        }
                        await().atMost(Duration.ofSeconds(30))
                                .ignoreExceptions()
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
