package io.easykit.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.test.ChildJvm;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Both products under load for {@code -Deasykit.soak.minutes} (20), while processes and Redis are killed and paused, in an order
 * that depends on {@code -Deasykit.soak.seed}. The first process is only paused: its memory and threads must not grow.
 */
@Tag("heavy")
class SoakTests {

    private static final int MINUTES = Integer.getInteger("easykit.soak.minutes", 20);
    private static final int NODES = 3;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    /** Longer than the lease of a message, so a delivery without an acknowledgement would be repeated in it. */
    private static final Duration SILENCE = Duration.ofSeconds(10);

    private static final long MEMORY = 16_000_000;
    private static final long THREADS = 10;

    @TempDir
    Path directory;

    private final RedisServer redis = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
    private final List<ChildJvm> nodes = new ArrayList<>();
    private final List<Long> redisMemory = new ArrayList<>();
    private Server database;
    private String url;
    private int started;

    @AfterEach
    void stop() {
        nodes.forEach(ChildJvm::close);
        if (database != null) {
            database.stop();
        }
        redis.close();
    }

    @Test
    void losesNothingAndDoesNotGrow() throws SQLException, IOException {
        long seed = Long.getLong("easykit.soak.seed", System.currentTimeMillis() / 1_000);
        System.out.println("Seed " + seed);
        database = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        url = "jdbc:h2:tcp://localhost:" + database.getPort() + "/mem:" + UUID.randomUUID()
                + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000";
        for (int i = 0; i < NODES; i++) {
            nodes.add(start());
        }

        suffer(new SplittableRandom(seed));

        Files.createFile(directory.resolve(SoakNode.CALM));
        nodes.forEach(node -> node.awaitLine(SoakNode.EQUAL::equals, PATIENCE));
        Ledger.Totals totals = awaitSilence();
        List<Growth> growths = growths();
        System.out.printf(
                "%d sends, %d deliveries, %d delivered more than once%n",
                totals.acknowledged().size(), totals.deliveries(), totals.deliveredTwice());
        growths.forEach(System.out::println);
        assertThat(totals.missing()).isEmpty();
        assertThat(totals.acknowledged()).hasSizeGreaterThan(100);
        assertThat(growths).noneMatch(Growth::isTooMuch);
    }

    private void suffer(SplittableRandom random) {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
        while (System.nanoTime() - end < 0) {
            goOn(Duration.ofMillis(random.nextInt(3_000, 10_000)));
            redisMemory.add(usedMemory());
            int node = random.nextInt(NODES);
            Duration held = Duration.ofMillis(random.nextInt(500, 3_000));
            switch (random.nextInt(4)) {
                case 0 -> {
                    redis.pause();
                    goOn(held);
                    redis.resume();
                }
                case 1 -> {
                    redis.kill();
                    goOn(held);
                    redis.restart();
                }
                case 2 -> {
                    nodes.get(node).pause();
                    goOn(held);
                    nodes.get(node).resume();
                }
                default -> {
                    int killed = Math.max(1, node);
                    nodes.get(killed).kill();
                    nodes.set(killed, start());
                }
            }
        }
    }

    /** Waits until nothing is missing, and then for the deliveries to end. */
    private Ledger.Totals awaitSilence() {
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> Ledger.read(directory).missing().isEmpty());
        Ledger.Totals[] last = {Ledger.read(directory)};
        await().atMost(PATIENCE).pollInterval(SILENCE).until(() -> {
            Ledger.Totals before = last[0];
            last[0] = Ledger.read(directory);
            return last[0].deliveries() == before.deliveries();
        });
        return last[0];
    }

    private List<Growth> growths() {
        List<String[]> figures = nodes.get(0).lines().stream()
                .filter(line -> line.startsWith(SoakNode.FIGURES))
                .map(line -> line.split(" ", -1))
                .toList();
        return List.of(
                new Growth("bytes of Redis", MEMORY, redisMemory),
                new Growth(
                        "bytes of the heap",
                        MEMORY,
                        figures.stream().map(line -> Long.valueOf(line[1])).toList()),
                new Growth(
                        "threads",
                        THREADS,
                        figures.stream().map(line -> Long.valueOf(line[2])).toList()));
    }

    private ChildJvm start() {
        ChildJvm node = ChildJvm.start(
                SoakNode.class,
                directory.toString(),
                "node" + started++,
                "--spring.datasource.url=" + url,
                "--spring.data.redis.host=" + redis.host(),
                "--spring.data.redis.port=" + redis.port(),
                "--trial.topic=" + SoakNode.TOPIC,
                "--easy-cache.outbox=jdbc",
                "--easy-cache.jdbc.initialize-schema=always");
        node.awaitLine(SoakNode.STARTED::equals, PATIENCE);
        return node;
    }

    private long usedMemory() {
        try (RawRedis raw = redis.connect()) {
            return Long.parseLong(raw.info("memory").get("used_memory"));
        }
    }

    private static void goOn(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(Math.min(left, TimeUnit.MILLISECONDS.toNanos(100)));
        }
    }
}
