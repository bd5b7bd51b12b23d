package io.easykit.delayqueue.autoconfigure;

import static io.easykit.delayqueue.autoconfigure.OutboxCrashProgram.AWAY;
import static io.easykit.delayqueue.autoconfigure.OutboxCrashProgram.Point.AFTER_THE_COMMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.TopicStats;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.store.SendOutbox;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A process is killed at each of the points of {@link OutboxCrashProgram}, and another one relays and receives the messages
 * left behind: those of committed orders, and no others.
 */
class OutboxCrashIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String NOWHERE = "redis://localhost:1";

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
        List<String> committed = JdbcClient.create(database())
                .sql("select id from orders")
                .query(String.class)
                .list();
        assertThat(committed).containsExactlyInAnyOrder(relayStop, AFTER_THE_COMMIT.name());

        List<String> delivered = delivered();

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

    @RepeatedTest(3)
    @Tag("heavy")
    void doesSoEachTime() {
        for (String stop : List.of("BEFORE_THE_STORE", "BEFORE_THE_DELETE", "AFTER_THE_DELETE", AWAY)) {
            emptyRedis();
            deliversWhatIsCommittedAndNothingElse(stop);
        }
    }

    private void killWhenAllHaveStopped(String relayStop, String redis) {
        try (ChildJvm child = ChildJvm.start(
                OutboxCrashProgram.class,
                relayStop,
                "--spring.datasource.url=" + url(),
                "--spring.data.redis.url=" + redis,
                "--delay-queue.send-phase=outbox",
                "--delay-queue.outbox.initialize-schema=always")) {
            child.awaitLine(OutboxCrashProgram.ALL_STOPPED::equals, PATIENCE);
            child.kill();
        }
    }

    /** Returns the orders for which another application receives messages, until there are none left. */
    private List<String> delivered() {
        Consumer consumer = new Consumer();
        new ApplicationContextRunner()
                .withUserConfiguration(ConsumerApplication.class)
                .withBean(Consumer.class, () -> consumer)
                .withPropertyValues(
                        "spring.datasource.url=" + url(),
                        "spring.data.redis.url=" + RedisServer.shared().uri(),
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
    @EnableAutoConfiguration
    static class ConsumerApplication {}

    static class Consumer {

        private final Queue<String> orders = new ConcurrentLinkedQueue<>();

        @DelayListener(topic = OutboxCrashProgram.TOPIC)
        void on(String order) {
            orders.add(order);
        }
    }
}
