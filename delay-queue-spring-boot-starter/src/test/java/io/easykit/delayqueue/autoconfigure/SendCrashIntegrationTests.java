package io.easykit.delayqueue.autoconfigure;

import static io.easykit.delayqueue.autoconfigure.CrashingSender.Point.AFTER_THE_COMMIT;
import static io.easykit.delayqueue.autoconfigure.CrashingSender.Point.AFTER_THE_SEND;
import static io.easykit.delayqueue.autoconfigure.CrashingSender.Point.AFTER_THE_STORE;
import static io.easykit.delayqueue.autoconfigure.CrashingSender.Point.AFTER_THE_TRANSACTION;
import static io.easykit.delayqueue.autoconfigure.CrashingSender.Point.AS_THE_COMMIT_BEGINS;
import static io.easykit.delayqueue.autoconfigure.CrashingSender.Point.BEFORE_THE_COMMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.annotation.DelayListener;
import io.easykit.delayqueue.autoconfigure.CrashingSender.Point;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A process is killed around the commits of its database, and another one receives the messages left behind. */
class SendCrashIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @BeforeEach
    void emptyRedis() {
        RedisServer.shared().flush();
    }

    @Test
    void deliversWhateverWasCommittedBeforeAKillAtAnyPoint() {
        killAfter(CrashingSender.ALL_STOPPED);
        Collection<String> committed = committed();
        Collection<String> delivered = delivered();

        // Stored before the commit: nothing is lost. A message stored just before a kill is delivered although its
        // order is not committed.
        assertThat(of(SendPhase.BEFORE_COMMIT, delivered)).containsAll(of(SendPhase.BEFORE_COMMIT, committed));
        assertThat(of(SendPhase.BEFORE_COMMIT, committed))
                .containsExactlyInAnyOrder(AFTER_THE_COMMIT, AFTER_THE_TRANSACTION);
        assertThat(of(SendPhase.BEFORE_COMMIT, delivered))
                .containsExactlyInAnyOrder(AFTER_THE_STORE, BEFORE_THE_COMMIT, AFTER_THE_COMMIT, AFTER_THE_TRANSACTION);
        // Stored after the commit: messages not stored before the kill are lost. No others are delivered.
        assertThat(of(SendPhase.AFTER_COMMIT, committed))
                .containsExactlyInAnyOrder(AFTER_THE_COMMIT, AFTER_THE_STORE, AFTER_THE_TRANSACTION);
        assertThat(of(SendPhase.AFTER_COMMIT, delivered))
                .containsExactlyInAnyOrder(AFTER_THE_STORE, AFTER_THE_TRANSACTION);
        // Stored at once: nothing is lost, and every sent message is delivered.
        assertThat(of(SendPhase.IMMEDIATELY, committed))
                .containsExactlyInAnyOrder(AFTER_THE_COMMIT, AFTER_THE_TRANSACTION);
        assertThat(of(SendPhase.IMMEDIATELY, delivered))
                .containsExactlyInAnyOrder(
                        AFTER_THE_STORE,
                        AFTER_THE_SEND,
                        AS_THE_COMMIT_BEGINS,
                        BEFORE_THE_COMMIT,
                        AFTER_THE_COMMIT,
                        AFTER_THE_TRANSACTION);
    }

    @RepeatedTest(3)
    @Tag("heavy")
    void doesSoEachTime() {
        deliversWhateverWasCommittedBeforeAKillAtAnyPoint();
    }

    @RepeatedTest(25)
    @Tag("heavy")
    void neitherDoesAKillAtAnyMomentUnderLoadLoseWhatWasCommitted() {
        String order = "number " + ThreadLocalRandom.current().nextInt(1, 500);
        killAfter(CrashingSender.DONE + order);

        Collection<String> committed =
                committed().stream().filter(id -> id.startsWith("number ")).toList();
        assertThat(committed).contains(order);
        assertThat(delivered()).containsAll(committed);
    }

    private void killAfter(String line) {
        try (ChildJvm child = ChildJvm.start(
                CrashingSender.class,
                "--spring.datasource.url=" + url(),
                "--spring.datasource.hikari.maximum-pool-size=30",
                "--spring.data.redis.url=" + RedisServer.shared().uri(),
                "--delay-queue.command-timeout=" + PATIENCE.toSeconds() + "s")) {
            child.awaitLine(line::equals, ChildJvm.START);
            child.kill();
        }
    }

    /** Returns the points at which the orders of this phase stopped. */
    private static List<Point> of(SendPhase phase, Collection<String> orders) {
        return Stream.of(Point.values())
                .filter(point -> orders.contains(CrashingSender.order(phase, point)))
                .toList();
    }

    private Collection<String> committed() {
        JdbcDataSource database = new JdbcDataSource();
        database.setUrl(url());
        return JdbcClient.create(database)
                .sql("select id from orders")
                .query(String.class)
                .list();
    }

    /** Returns the orders for which another application receives messages, until there are none left. */
    private static Collection<String> delivered() {
        Consumer consumer = new Consumer();
        new ApplicationContextRunner()
                .withUserConfiguration(ConsumerApplication.class)
                .withBean(Consumer.class, () -> consumer)
                .withPropertyValues(
                        "spring.data.redis.url=" + RedisServer.shared().uri(), "delay-queue.command-timeout=2s")
                .run(context -> await().atMost(PATIENCE).until(() -> {
                    TopicStats stats = context.getBean(DelayQueueEngine.class).stats(CrashingSender.TOPIC);
                    return stats.waiting() + stats.inFlight() + stats.dead() == 0;
                }));
        return consumer.orders;
    }

    private String url() {
        return "jdbc:h2:file:" + directory.resolve("orders") + ";WRITE_DELAY=0";
    }

    @Configuration(proxyBeanMethods = false)
    @EnableQueueAndDatabase
    static class ConsumerApplication {}

    static class Consumer {

        private final Set<String> orders = ConcurrentHashMap.newKeySet();

        @DelayListener(topic = CrashingSender.TOPIC, concurrency = "16")
        void on(String order) {
            orders.add(order);
        }
    }
}
