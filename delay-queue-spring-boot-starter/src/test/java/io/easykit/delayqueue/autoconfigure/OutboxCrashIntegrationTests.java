package io.easykit.delayqueue.autoconfigure;

import static io.easykit.delayqueue.autoconfigure.OutboxCrashProgram.AWAY;
import static io.easykit.delayqueue.autoconfigure.OutboxCrashProgram.Point.AFTER_THE_COMMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.autoconfigure.OutboxCrashProgram.Point;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A process is killed at each of the eight points of {@link OutboxCrashProgram.Point}, and another one relays and receives the
 * messages left behind: those of committed orders, and no others.
 *
 * <p>Each run has all five points of transactions, and an order that is rolled back. The runs differ in the relay:
 *
 * <ul>
 *   <li>Redis is well, and the relay stands at one of its three points.
 *   <li>Redis is away from the begin to the kill, so the relay gets to none of its points.
 *   <li>Redis stops while the relay stands at one of its points. The relay goes on, and is killed when it has got no reply, or
 *       around its delete. Then Redis goes on, and may execute the call of the dead process.
 * </ul>
 */
class OutboxCrashIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String NOWHERE = "redis://localhost:1";

    /** Longer than the test takes: a relay that has stood at its point for half of it would not go on. */
    private static final Duration LONG_LEASE = Duration.ofMinutes(30);

    @TempDir
    Path directory;

    private int databases;

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    /** The points of transactions are part of each. */
    @ParameterizedTest
    @ValueSource(strings = {"BEFORE_THE_DELETE", AWAY})
    void deliversWhatIsCommittedAndNothingElse(String relayStop) {
        databases++;
        killWhenAllHaveStopped(
                relayStop,
                relayStop.equals(AWAY) ? NOWHERE : RedisServer.shared().uri());
        assertThat(committed()).containsExactlyInAnyOrder(relayStop, AFTER_THE_COMMIT.name());

        List<String> delivered = delivered(RedisServer.shared());

        assertThat(delivered).containsOnlyOnce(AFTER_THE_COMMIT.name());
        if (relayStop.equals("BEFORE_THE_DELETE")) {
            // It may have run before the row was relayed again.
            assertThat(delivered).hasSizeBetween(2, 3).containsOnly(relayStop, AFTER_THE_COMMIT.name());
        } else {
            assertThat(delivered).containsExactlyInAnyOrder(relayStop, AFTER_THE_COMMIT.name());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"BEFORE_THE_STORE", "AFTER_THE_DELETE"})
    @Tag("heavy")
    void doesSoAtTheOtherPointsOfTheRelay(String relayStop) {
        deliversWhatIsCommittedAndNothingElse(relayStop);
    }

    @ParameterizedTest
    @EnumSource(names = {"BEFORE_THE_STORE", "BEFORE_THE_DELETE", "AFTER_THE_DELETE"})
    @Tag("heavy")
    void doesSoIfRedisStopsWhileTheRelayIsAtAPoint(Point relayStop) throws IOException {
        databases++;
        try (RedisServer redis = RedisServer.start()) {
            killWhileRedisIsAway(relayStop, redis);
            assertThat(committed()).containsExactlyInAnyOrder(relayStop.name(), AFTER_THE_COMMIT.name());

            List<String> delivered = delivered(redis);

            assertThat(delivered).containsOnlyOnce(AFTER_THE_COMMIT.name());
            assertThat(delivered).containsOnly(relayStop.name(), AFTER_THE_COMMIT.name());
            if (relayStop == Point.AFTER_THE_DELETE) {
                assertThat(delivered).hasSize(2);
            }
        }
    }

    @RepeatedTest(3)
    @Tag("heavy")
    void doesSoEachTime() {
        for (String stop : List.of("BEFORE_THE_STORE", "BEFORE_THE_DELETE", "AFTER_THE_DELETE", AWAY)) {
            emptyRedis();
            deliversWhatIsCommittedAndNothingElse(stop);
        }
    }

    private List<String> committed() {
        return JdbcClient.create(database())
                .sql("select id from orders")
                .query(String.class)
                .list();
    }

    private void killWhileRedisIsAway(Point relayStop, RedisServer redis) throws IOException {
        Path goOn = directory.resolve("go-on" + databases);
        try (ChildJvm child = start(
                relayStop.name(),
                redis.uri(),
                "--" + OutboxCrashProgram.GO_ON + "=" + goOn,
                "--delay-queue.outbox.lease=" + LONG_LEASE.toMinutes() + "m",
                "--delay-queue.command-timeout=1s")) {
            child.awaitLine(OutboxCrashProgram.ALL_STOPPED::equals, ChildJvm.START);
            redis.pause();
            Files.createFile(goOn);
            child.awaitLine(OutboxCrashProgram.WENT_ON::equals, PATIENCE);
            if (relayStop == Point.BEFORE_THE_STORE) {
                child.awaitLine(line -> line.contains("so messages stay in the outbox"), PATIENCE);
            }
            child.kill();
        } finally {
            redis.resume();
        }
    }

    private ChildJvm start(String relayStop, String redis, String... further) {
        Stream<String> settings = Stream.of(
                relayStop,
                "--spring.datasource.url=" + url(),
                "--spring.data.redis.url=" + redis,
                "--delay-queue.send-phase=outbox",
                "--delay-queue.outbox.initialize-schema=always");
        return ChildJvm.start(
                OutboxCrashProgram.class,
                Stream.concat(settings, Stream.of(further)).toArray(String[]::new));
    }

    private void killWhenAllHaveStopped(String relayStop, String redis) {
        try (ChildJvm child = start(relayStop, redis)) {
            child.awaitLine(OutboxCrashProgram.ALL_STOPPED::equals, ChildJvm.START);
            child.kill();
        }
    }

    /** Returns the orders for which another application receives messages, until there are none left. */
    private List<String> delivered(RedisServer redis) {
        Consumer consumer = new Consumer();
        new ApplicationContextRunner()
                .withUserConfiguration(ConsumerApplication.class)
                .withBean(Consumer.class, () -> consumer)
                .withPropertyValues(
                        "spring.datasource.url=" + url(),
                        "spring.data.redis.url=" + redis.uri(),
                        "delay-queue.send-phase=outbox",
                        // The relay sends again what has had no reply by then.
                        "delay-queue.outbox.lease=10s",
                        "delay-queue.command-timeout=1s")
                .run(context -> await().atMost(PATIENCE).until(() -> {
                    TopicStats stats = context.getBean(DelayQueueEngine.class).stats(OutboxCrashProgram.TOPIC);
                    return context.getBean(SendOutbox.class).backlog().rows() == 0
                            && stats.waiting() + stats.inFlight() + stats.dead() == 0;
                }));
        return List.copyOf(consumer.orders);
    }

    private JdbcDataSource database() {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl(url());
        return database;
    }

    private String url() {
        return "jdbc:h2:file:" + directory.resolve("orders" + databases) + ";WRITE_DELAY=0";
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class ConsumerApplication {}

    static class Consumer {

        private final Queue<String> orders = new ConcurrentLinkedQueue<>();

        @DelayListener(topic = OutboxCrashProgram.TOPIC)
        void on(String order) {
            orders.add(order);
        }
    }
}
