package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.test.ChildJvm;
import io.easykit.test.RedisServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.h2.jdbcx.JdbcDataSource;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A process with an idempotent listener is killed again and again, while it handles messages on several threads. Each effect must
 * be in the database exactly once at the end.
 *
 * <p>Every other process is killed while one message is certainly committed and not acknowledged. The processes in between halt at
 * a random time of up to {@link #LATEST_HALT} after a commit: in the rest of the transaction, while the acknowledgement waits for
 * its call, while the call is on its way, or after it. The other threads are at random points in both cases.
 */
class HandleCrashIntegrationTests {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** Commits of a process before its kill, at most. */
    private static final int MOST_COMMITS = 12;

    private static final Duration LATEST_HALT = Duration.ofMillis(4);

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
        kill(2);
    }

    @Test
    @Tag("heavy")
    void doesSoWithAHundredKills() {
        kill(100);
    }

    private void kill(int times) {
        List<String> messages = IntStream.range(0, (times + 1) * (MOST_COMMITS + 8))
                .mapToObj(i -> "message " + i)
                .toList();
        application().run(context -> {
            DelayQueueTemplate template = context.getBean(DelayQueueTemplate.class);
            messages.forEach(message -> template.send(CrashingHandler.TOPIC, message, Duration.ZERO));
        });

        long repeated = 0;
        for (int i = 0; i < times; i++) {
            repeated += i % 2 == 0 ? killBetweenCommitAndAcknowledgement() : haltAfterACommit();
        }
        repeated += handleTheRest();

        assertThat(database.sql("select message from effects")
                        .query(String.class)
                        .list())
                .containsExactlyInAnyOrderElementsOf(messages);
        assertThat(repeated).isGreaterThanOrEqualTo(times / 2);
    }

    /** Returns how many messages the process has found handled. */
    private long killBetweenCommitAndAcknowledgement() {
        try (ChildJvm child = startChild()) {
            child.awaitLine(CrashingHandler.COMMITTED::equals, ChildJvm.START);
            child.kill();
            return repetitions(child);
        }
    }

    /** Returns how many messages the process has found handled. */
    private long haltAfterACommit() {
        long latest = TimeUnit.NANOSECONDS.toMicros(LATEST_HALT.toNanos());
        long micros = ThreadLocalRandom.current().nextLong(latest);
        try (ChildJvm child = startChild("--halt-after=" + micros)) {
            assertThat(child.waitFor(ChildJvm.START)).isEqualTo(CrashingHandler.HALTED);
            return repetitions(child);
        }
    }

    private ChildJvm startChild(String... further) {
        int stopAt = ThreadLocalRandom.current().nextInt(1, MOST_COMMITS + 1);
        Stream<String> settings = Stream.of(
                "--stop-at=" + stopAt,
                "--spring.datasource.url=" + url(),
                "--delay-queue.idempotency.initialize-schema=always",
                "--spring.data.redis.url=" + RedisServer.shared().uri(),
                "--delay-queue.command-timeout=60s");
        return ChildJvm.start(
                CrashingHandler.class,
                Stream.concat(settings, Stream.of(further)).toArray(String[]::new));
    }

    private static long repetitions(ChildJvm ended) {
        return ended.lines().stream()
                .filter(line -> line.startsWith(CrashingHandler.REPEATED))
                .count();
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
                        "delay-queue.command-timeout=60s",
                        "delay-queue.idempotency.initialize-schema=always",
                        "spring.datasource.url=" + url());
    }
}
