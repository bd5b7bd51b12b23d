package io.easykit.delayqueue;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.test.ChildJvm;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FleetIntegrationTests {

    private static final String TOPIC = "orders";
    private static final Duration JVM_START = Duration.ofSeconds(60);

    private final RedisServer server = RedisServer.start();
    private final RedisQueue queue = new RedisQueue(server.host(), server.port());
    private final RawRedis redis = server.connect();
    private final List<ChildJvm> fleet = new ArrayList<>();

    @AfterEach
    void close() {
        fleet.forEach(ChildJvm::close);
        redis.close();
        queue.close();
        server.close();
    }

    private ChildJvm launch(int workMillis) {
        ChildJvm child = ChildJvm.start(
                ConsumerProgram.class, server.host(), String.valueOf(server.port()), String.valueOf(workMillis));
        fleet.add(child);
        child.awaitLine("ready"::equals, JVM_START);
        return child;
    }

    private void send(int count) {
        queue.engine
                .template()
                .sendAll(IntStream.range(0, count)
                        .mapToObj(i -> OutgoingMessage.of(TOPIC, "x").id("m" + i))
                        .toList());
    }

    private List<String> diary(String list) {
        return ((List<?>) Objects.requireNonNull(redis.command("LRANGE", list, "0", "-1")))
                .stream().map(entry -> new String((byte[]) entry, UTF_8)).toList();
    }

    private void awaitDrained(Duration timeout) {
        await().atMost(timeout).until(() -> queue.isDrained(TOPIC));
    }

    @Test
    void runsEverythingWhenOneOfThreeIsKilledAndAnotherIsAskedToEnd() {
        for (int i = 0; i < 3; i++) {
            launch(20);
        }
        send(1200);
        await().until(() -> diary("done").size() > 100);
        fleet.get(0).kill();
        await().until(() -> diary("done").size() > 300);
        fleet.get(1).terminate();
        fleet.get(1).waitFor(Duration.ofSeconds(10));
        awaitDrained(Duration.ofSeconds(30));

        ShardStats stats = queue.stats(TOPIC);
        Set<String> done = new HashSet<>(diary("done"));
        assertThat(done).hasSize(1200);
        assertThat(stats.counters().acknowledged()).isEqualTo(1200);
        assertThat(stats.dead()).isZero();
        // Only the killed one's messages, at most four, waited for their leases.
        assertThat(stats.counters().lost()).isBetween(0L, 4L);
        assertThat(diary("begun").size() - 1200).isLessThanOrEqualTo(8);
    }

    @Test
    void runsElsewhereWhatAPausedNodeHoldsAndTellsItsHandler() {
        ChildJvm stalled = launch(60_000);
        send(4);
        await().until(() -> diary("begun").size() == 4);
        launch(20);
        stalled.pause();
        await().atMost(ConsumerProgram.LEASE.plusSeconds(10)).until(() -> queue.isDrained(TOPIC));
        assertThat(diary("done")).hasSize(4);

        stalled.resume();
        await().until(() -> diary("lost").size() == 4);

        assertThat(queue.stats(TOPIC).counters().lost()).isEqualTo(4);
        assertThat(queue.stats(TOPIC).counters().acknowledged()).isEqualTo(4);
        assertThat(queue.stats(TOPIC).imbalance()).isZero();
    }
}
