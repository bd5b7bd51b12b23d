package io.easykit.delayqueue.engine;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.delayqueue.store.StoredMessage.History;
import io.easykit.test.ChildJvm;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several processes, which are ended and stopped in every way. */
class FleetIntegrationTests {

    private static final String TOPIC = "orders";
    private static final ShardKey SHARD = new ShardKey(TOPIC, 0);
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration JVM_START = ChildJvm.START;

    /** For a test machine that is busy with other things. It is less than a second lease. */
    private static final Duration ALLOWANCE = Duration.ofSeconds(9);

    private final RedisServer server = RedisServer.start();
    private final RedisQueue queue = new RedisQueue(server.host(), server.port());
    private final RawRedis redis = server.connect();
    private final List<Node> fleet = new ArrayList<>();

    /** One consumer. */
    private record Node(ChildJvm process, String name) {}

    /** One line that a consumer wrote. */
    private record Entry(String id, Instant at) {}

    @AfterEach
    void close() {
        fleet.forEach(node -> node.process.close());
        redis.close();
        queue.close();
        server.close();
    }

    private void launch(int count, int workMillis, Duration lease) {
        List<ChildJvm> starting = IntStream.range(0, count)
                .mapToObj(i -> ChildJvm.start(
                        ConsumerProgram.class,
                        server.host(),
                        String.valueOf(server.port()),
                        String.valueOf(workMillis),
                        String.valueOf(lease.toMillis())))
                .toList();
        for (ChildJvm child : starting) {
            String ready = child.awaitLine(line -> line.startsWith("ready "), JVM_START);
            fleet.add(new Node(child, "@" + ready.substring("ready ".length()) + "/"));
        }
    }

    private void send(int count) {
        queue.engine
                .template()
                .sendAll(IntStream.range(0, count)
                        .mapToObj(i -> OutgoingMessage.of(TOPIC, "x").id("m" + i))
                        .toList());
    }

    private List<Entry> diary(String list) {
        return ((List<?>) Objects.requireNonNull(redis.command("LRANGE", list, "0", "-1")))
                .stream()
                        .map(entry -> new String((byte[]) entry, UTF_8).split(" "))
                        .map(words -> new Entry(words[0], Instant.ofEpochMilli(Long.parseLong(words[1]))))
                        .toList();
    }

    private List<StoredMessage> inFlight() {
        return queue
                .store
                .browse(SHARD, new Browse(State.IN_FLIGHT, false, null, QueueStore.MAX_BATCH, 512))
                .entries()
                .stream()
                .flatMap(entry -> queue.store.find(SHARD, entry.id()).stream())
                .toList();
    }

    /** A node may have nothing in flight for a moment. */
    private boolean pausesWithAMessage(Node node) {
        node.process.pause();
        if (inFlight().stream().anyMatch(message -> isHeldBy(node, message))) {
            return true;
        }
        node.process.resume();
        return false;
    }

    private static boolean isHeldBy(Node node, StoredMessage message) {
        return Optional.ofNullable(message.history())
                .map(History::owner)
                .filter(owner -> owner.contains(node.name))
                .isPresent();
    }

    private void awaitDrained(Duration timeout) {
        await().atMost(timeout).until(() -> queue.isDrained(TOPIC));
    }

    @Test
    void runsEverythingInTimeWhenOneOfThreeIsKilledAndAnotherIsAskedToEnd() {
        int count = 2600;
        launch(3, 10, LEASE);
        send(count);
        await().atMost(JVM_START).until(() -> diary("done").size() > 100);
        await().until(() -> pausesWithAMessage(fleet.get(0)));
        fleet.get(0).process.kill();
        Instant killed = Instant.now();
        Set<String> doneBefore = diary("done").stream().map(Entry::id).collect(toSet());
        Set<String> orphans = Set.copyOf(inFlight().stream()
                .filter(message -> isHeldBy(fleet.get(0), message))
                .map(StoredMessage::id)
                .toList());
        await().atMost(JVM_START).until(() -> diary("done").size() > 1000);
        fleet.get(1).process.terminate();
        fleet.get(1).process.waitFor(Duration.ofSeconds(30));
        assertThat(inFlight()).noneMatch(message -> isHeldBy(fleet.get(1), message));
        awaitDrained(Duration.ofSeconds(60));

        Map<String, Instant> lastBegun =
                diary("begun").stream().collect(toMap(Entry::id, Entry::at, (earlier, later) -> later));
        // Others have run, and their results had not reached Redis.
        assertThat(orphans).isNotEmpty();
        assertThat(orphans).filteredOn(id -> !doneBefore.contains(id)).hasSizeLessThanOrEqualTo(4);
        assertThat(orphans).allSatisfy(id -> assertThat(lastBegun.get(id))
                .as("%s, held by the one that was killed at %s", id, killed)
                .isBetween(killed, killed.plus(LEASE).plusSeconds(1).plus(ALLOWANCE)));
        ShardStats stats = queue.stats(TOPIC);
        assertThat(lastBegun).hasSize(count);
        assertThat(stats.counters().acknowledged()).isEqualTo(count);
        assertThat(stats.dead()).isZero();
        // Only the killed one's messages waited for their leases.
        assertThat(stats.counters().leaseExpirations()).isEqualTo(orphans.size());
        assertThat(diary("begun").size() - count).isLessThanOrEqualTo(8);
    }

    @Test
    void runsElsewhereWhatAPausedNodeHoldsAndChangesNothingByItsLateAcknowledgements() {
        launch(1, 60_000, LEASE);
        Node stalled = fleet.get(0);
        send(4);
        await().until(() -> diary("begun").size() == 4);
        stalled.process.pause();
        CountDownLatch resume = new CountDownLatch(1);
        Set<String> elsewhere = ConcurrentHashMap.newKeySet();
        ListenerContainer second =
                queue.engine.container(ConsumerProgram.endpoint(LEASE), (DelayMessage<String> message) -> {
                    elsewhere.add(message.id());
                    resume.await();
                });
        second.start();
        await().atMost(LEASE.plusSeconds(30)).until(() -> elsewhere.size() == 4);

        stalled.process.resume();
        await().until(() -> diary("lost").size() == 4);
        for (int i = 0; i < 4; i++) {
            String late = "result of message m" + i;
            stalled.process.awaitLine(
                    line -> line.contains(late) && line.contains("came too late"), Duration.ofSeconds(30));
        }

        assertThat(queue.stats(TOPIC).counters().acknowledged()).isZero();
        assertThat(inFlight()).hasSize(4).noneMatch(message -> isHeldBy(stalled, message));
        resume.countDown();
        awaitDrained(Duration.ofSeconds(30));
        assertThat(queue.stats(TOPIC).counters().acknowledged()).isEqualTo(4);
        assertThat(queue.stats(TOPIC).counters().leaseExpirations()).isEqualTo(4);
        assertThat(queue.stats(TOPIC).imbalance()).isZero();
        second.stop();
    }

    @Test
    void buriesAMessageThatKillsItsProcessEachTimeWithoutCountingAFailure() {
        Duration lease = Duration.ofSeconds(4);
        launch(3, 10, lease);
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, ConsumerProgram.POISON).id("poison"));
        for (Node node : fleet) {
            assertThat(node.process.waitFor(Duration.ofSeconds(90))).isEqualTo(1);
        }
        Set<String> survived = ConcurrentHashMap.newKeySet();
        ListenerContainer last = queue.engine.container(
                ConsumerProgram.endpoint(lease), (DelayMessage<String> message) -> survived.add(message.id()));
        last.start();
        send(1);
        await().atMost(Duration.ofSeconds(90))
                .until(() ->
                        queue.stats(TOPIC).dead() == 1 && queue.stats(TOPIC).inFlight() == 0);
        last.stop();

        StoredMessage dead = queue.store.find(SHARD, "poison").orElseThrow();
        assertThat(dead.lastError()).extracting(ErrorNote::text).isEqualTo(ErrorNote.LEASE_LOST);
        assertThat(dead.history())
                .extracting(History::failures, History::leaseExpirations)
                .containsExactly(0, 3);
        assertThat(diary("begun")).extracting(Entry::id).containsExactly("poison", "poison", "poison");
        assertThat(survived).containsExactly("m0");
    }
}
