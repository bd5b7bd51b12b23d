package io.easykit.cache.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.cache.CacheKey;
import io.easykit.cache.history.Client.HaltPoint;
import io.easykit.test.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** A short run, and the same clients without a protection of the protocol. {@code LongHistoryTests} is the long one. */
class HistoryIntegrationTests {

    private static final Duration HELD = Duration.ofMillis(700);

    @TempDir
    Path directory;

    @Test
    void severalProcessesKeepThePromisesThroughFaults() {
        long seed = Long.getLong(LongHistoryTests.SEED, 1);
        SingleServer server = new SingleServer(3);
        try (HistoryRun run = new HistoryRun(directory, 3, server, Weakening.NONE, seed)) {
            HistoryRun.goOn(HELD);
            run.strike(HELD, List.of(run.kill(2), run.halt(0, HaltPoint.AFTER_COMMIT)));
            run.strike(HELD, List.of(run.pause(1), server.restart()));
            run.strike(HELD, List.of(server.lostReplies(1)));
            HistoryRun.goOn(HELD);

            Verdict verdict = run.finish();

            System.out.println("Seed " + seed + ": " + verdict.summary());
            assertThat(verdict.findings().violations()).as(run::log).isEmpty();
            assertThat(verdict.reads()).isGreaterThan(100);
            assertThat(verdict.updates()).isGreaterThan(10);
        }
    }

    /** Two nodes in this JVM, without faults. */
    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
    void noticesAWeakenedProtocol(Weakening weakening) {
        String database = "jdbc:h2:mem:" + UUID.randomUUID();
        try (Table table = new Table(database);
                RedisServer redis = RedisServer.start()) {
            table.create(Caches.keys().stream().map(CacheKey::name).toList());
            List<HistoryNode> nodes = Stream.of("one", "other")
                    .map(name -> node(name, database, redis, weakening))
                    .toList();
            try {
                await().atMost(Duration.ofMinutes(2))
                        .pollInterval(Duration.ofMillis(300))
                        .until(() -> !Verdict.of(directory, List.of())
                                .findings()
                                .violations()
                                .isEmpty());
            } finally {
                nodes.forEach(HistoryNode::close);
            }
        }
    }

    private HistoryNode node(String name, String database, RedisServer redis, Weakening weakening) {
        return new HistoryNode(new HistoryNode.Settings(
                name, directory, database, redis.host() + ":" + redis.port(), 4, name.hashCode(), weakening));
    }
}
