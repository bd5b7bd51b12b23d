package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.TopicStats;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A process with an idempotent listener is killed again and again, each time with a message whose effect is committed and which is
 * not acknowledged, while other threads handle further messages.
 */
class HandleCrashIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final int KILLS = 4;

    /** Commits of a process before its kill, at most. */
    private static final int MOST_COMMITS = 12;

    private final String name = UUID.randomUUID().toString();
    private Server server;
    private JdbcClient database;

    @BeforeEach
    void start() throws SQLException {
        RedisServer.shared().flush();
        server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        JdbcDataSource source = new JdbcDataSource();
        source.setUrl(url());
        database = JdbcClient.create(source);
        database.sql("create table effects (message varchar(50))").update();
    }

    @AfterEach
    void stop() {
        server.stop();
    }

    private String url() {
        return "jdbc:h2:tcp://localhost:" + server.getPort() + "/mem:" + name + ";DB_CLOSE_DELAY=-1";
    }

    @Test
    void makesEachEffectOnceDespiteKillsBetweenCommitAndAcknowledgement() {
        killRepeatedly();
    }

    /** A hundred kills. */
    @RepeatedTest(25)
    @Tag("heavy")
    void doesSoEachTime() {
        killRepeatedly();
    }

    private void killRepeatedly() {
        List<String> messages = IntStream.range(0, (KILLS + 1) * (MOST_COMMITS + 8))
                .mapToObj(i -> "message " + i)
                .toList();
        application().run(context -> {
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            messages.forEach(message -> template.send(CrashingHandler.TOPIC, message, Duration.ZERO));
        });

        long repeated = 0;
        for (int i = 0; i < KILLS; i++) {
            repeated += killBetweenCommitAndAcknowledgement();
        }
        repeated += handleTheRest();

        assertThat(database.sql("select message from effects")
                        .query(String.class)
                        .list())
                .containsExactlyInAnyOrderElementsOf(messages);
        assertThat(repeated).isGreaterThanOrEqualTo(KILLS);
    }

    /** Returns how many messages the process has found handled. */
    private long killBetweenCommitAndAcknowledgement() {
        int stopAt = ThreadLocalRandom.current().nextInt(1, MOST_COMMITS + 1);
        try (ChildJvm child = ChildJvm.start(
                CrashingHandler.class,
                "--stop-at=" + stopAt,
                "--spring.datasource.url=" + url(),
                "--delay-queue.idempotency.initialize-schema=always",
                "--spring.data.redis.url=" + RedisServer.shared().uri(),
                "--delay-queue.command-timeout=5s")) {
            child.awaitLine(CrashingHandler.COMMITTED::equals, PATIENCE);
            child.kill();
            return child.lines().stream()
                    .filter(line -> line.startsWith(CrashingHandler.REPEATED))
                    .count();
        }
    }

    private long handleTheRest() {
        long before = CrashingHandler.REPETITIONS.get();
        application().withUserConfiguration(CrashingHandler.Handlers.class).run(context -> await().atMost(PATIENCE)
                .untilAsserted(() -> {
                    TopicStats stats = context.getBean(DelayQueueEngine.class).stats(CrashingHandler.TOPIC);
                    assertThat(stats.waiting() + stats.inFlight() + stats.dead())
                            .isZero();
                }));
        return CrashingHandler.REPETITIONS.get() - before;
    }

    private ApplicationContextRunner application() {
        return new ApplicationContextRunner()
                .withUserConfiguration(CrashingHandler.Application.class)
                .withPropertyValues(
                        "spring.data.redis.url=" + RedisServer.shared().uri(),
                        "delay-queue.command-timeout=5s",
                        "delay-queue.idempotency.initialize-schema=always",
                        "spring.datasource.url=" + url());
    }
}
