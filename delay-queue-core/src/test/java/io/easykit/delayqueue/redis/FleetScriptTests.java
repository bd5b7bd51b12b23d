package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.ms;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.NodeInfo.Listener;
import io.easykit.delayqueue.admin.NodeInfo.Pause;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicSummary;
import io.easykit.delayqueue.store.Beat;
import io.easykit.delayqueue.store.FleetStore;
import io.easykit.delayqueue.store.FleetStore.SharedSnapshot;
import io.easykit.delayqueue.store.NodeReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** topics.lua, beat.lua, nodes.lua and pause-request.lua. */
class FleetScriptTests {

    private static final String PREFIX = "dq:{nodes}:";
    private static final Duration KEEP = Duration.ofSeconds(30);
    private static final NodeReport SENDER =
            new NodeReport("shop", "host-1", Map.of("java", "17"), Duration.ofSeconds(5), List.of());

    private final TestShard shard = new TestShard();
    private final FleetStore fleet = shard.store.fleet();

    @AfterEach
    void close() {
        shard.close();
    }

    @Test
    void keepsTopicsWithTheirLatestShardCount() {
        fleet.addTopics(Map.of("mail", 1, "com.shop/order:close", 4));
        fleet.addTopics(Map.of("mail", 2));

        assertThat(fleet.topics()).containsExactly(Map.entry("com.shop/order:close", 4), Map.entry("mail", 2));
        assertThat(shard.redis().snapshot().keySet()).containsExactly(PREFIX + "topics", "test:clock");
    }

    /** It may have changed since it was read, and a registry that was lost gets it back. */
    @Test
    void keepsAnOldShardCountOnlyIfThereIsNone() {
        fleet.addTopics(Map.of("mail", 2));
        fleet.addTopics(Map.of("mail", 1, "orders", 4), true);
        assertThat(fleet.topics()).containsExactly(Map.entry("mail", 2), Map.entry("orders", 4));

        fleet.addTopics(Map.of("mail", 1));
        assertThat(fleet.topics()).containsEntry("mail", 1);
    }

    @Test
    void keepsMoreTopicsThanOneCallTakes() {
        Map<String, Integer> many = new TreeMap<>();
        IntStream.range(0, 250).forEach(i -> many.put("topic-" + i, 1));
        fleet.addTopics(many);

        assertThat(fleet.topics()).isEqualTo(many);
    }

    @Test
    void keepsAReportWithAllItsFields() {
        NodeReport report = new NodeReport(
                "shop \"1\"",
                "host-1",
                Map.of("java", "17", "easykit", "0.1.0"),
                Duration.ofSeconds(61),
                List.of(
                        new Listener("close", "orders", 2, 8, Duration.ofMillis(1500), null),
                        new Listener("mail", "mail", 0, 1, Duration.ZERO, new Pause(ms(900), "ops")),
                        new Listener("own", "own", 0, 1, Duration.ZERO, Pause.LOCAL)));
        shard.clock(100_000);
        fleet.beat("a", report, KEEP);

        assertThat(fleet.nodes())
                .containsExactly(new NodeInfo(
                        "a", "shop \"1\"", "host-1", report.versions(), ms(39_000), ms(100_000), report.listeners()));
        assertThat(shard.redis().snapshot().keySet())
                .containsExactly(PREFIX + "reports", PREFIX + "since", PREFIX + "until", "test:clock");
        assertThat(shard.redis().snapshot().values().stream()
                        .filter(stored -> stored.pttl() < 0)
                        .count())
                .as("keys that stay for ever, the clock of the test apart")
                .isEqualTo(1);
    }

    @Test
    void forgetsASilentNodeAlsoIfTheClockWasSetBack() {
        shard.clock(10_000_000);
        fleet.beat("dead", SENDER, KEEP);
        shard.clock(10_001_000);
        fleet.beat("a", SENDER, KEEP);
        shard.clock(100_000);
        assertThat(fleet.beat("a", SENDER, KEEP).first()).isFalse();
        shard.clock(120_000);
        assertThat(fleet.beat("a", SENDER, KEEP).first()).isFalse();
        shard.clock(130_000);
        assertThat(fleet.beat("a", SENDER, KEEP).first()).isTrue();
        assertThat(fleet.nodes()).extracting(NodeInfo::id).containsExactly("a");
    }

    /** Of nodes with the longest heartbeat and the shortest one. */
    @Test
    void keepsASlowNodeBesideAFastOne() {
        shard.clock(1_000_000);
        fleet.beat("slow", SENDER, Duration.ofMinutes(3));
        fleet.beat("fast", SENDER, Duration.ofSeconds(3));
        shard.clock(1_170_000);
        fleet.beat("fast", SENDER, Duration.ofSeconds(3));

        assertThat(fleet.nodes()).extracting(NodeInfo::id).contains("slow");
    }

    /** Otherwise other nodes would raise alerts of topics without consumers. */
    @Test
    void keepsThePlacesOfANodeHoweverManyListenersItHas() {
        List<Listener> listeners = new ArrayList<>();
        for (int i = 0; i < 3000; i++) {
            String name = "com.shop.orders/close-" + i / 2;
            Pause pause = i % 5 == 0 ? new Pause(ms(900), "ops") : null;
            listeners.add(new Listener(name + "-" + i, name, 1, 4, Duration.ofMillis(i), pause));
        }
        NodeReport report = new NodeReport("shop", "host-1", Map.of(), Duration.ofSeconds(5), listeners);
        fleet.beat("a", report, KEEP);

        NodeInfo node = fleet.nodes().get(0);
        assertThat(node.listeners().subList(0, 300)).isEqualTo(listeners.subList(0, 300));
        for (Listener listener : listeners) {
            int paused = pausedOf(listeners, listener.topic());
            assertThat(node.places(listener.topic())).as(listener.topic()).isEqualTo(8 - 4 * paused);
        }
        assertThat(node.listeners().stream().mapToInt(Listener::busy).sum()).isEqualTo(3000);
        assertThat(node.listeners().get(node.listeners().size() - 1).id()).isEmpty();
        assertThat(node.listeners().stream().map(Listener::oldestRun).max(Duration::compareTo))
                .contains(Duration.ofMillis(2999));
    }

    private static int pausedOf(List<Listener> listeners, String topic) {
        return (int) listeners.stream()
                .filter(listener -> listener.topic().equals(topic) && listener.pause() != null)
                .count();
    }

    @Test
    void forgetsASilentNodeAndMakesTheNextTheFirst() {
        assertThat(fleet.beat("a", SENDER, KEEP)).isEqualTo(new Beat(ms(1000), true, List.of()));
        shard.clock(11_000);
        assertThat(fleet.beat("b", SENDER, KEEP).first()).isFalse();
        fleet.requestPause("a", "close", true, "ops");
        shard.clock(30_999);
        assertThat(fleet.beat("b", SENDER, KEEP).first()).isFalse();
        assertThat(ids()).containsExactly("a", "b");

        shard.clock(31_000);
        assertThat(ids()).containsExactly("b");
        assertThat(fleet.beat("b", SENDER, KEEP).first()).isTrue();
        assertThat(keysWith("a")).containsExactly(PREFIX + "pause-requests:a");

        assertThat(fleet.beat("a", SENDER, KEEP).first()).as("back again").isFalse();
        assertThat(ids()).containsExactlyInAnyOrder("a", "b");
    }

    /** Its line to Redis was away, and it went on running. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aNodeThatWasSilentGetsItsPauseRequest(boolean isForgottenByAnother) {
        fleet.beat("a", SENDER, KEEP);
        fleet.requestPause("a", "close", true, "ops");
        shard.clock(41_000);
        if (isForgottenByAnother) {
            fleet.beat("b", SENDER, KEEP);
        }

        Beat back = fleet.beat("a", SENDER, KEEP);

        assertThat(back.pauseRequests()).extracting(Beat.PauseRequest::listener).containsExactly("close");
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "pause-requests:a"))
                .isBetween(1L, 3_600_000L);
    }

    /** Otherwise it would pause when it comes back, although the operator has resumed it. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPauseRequestOfASilentNodeCanBeTakenBack(boolean isForgottenByAnother) {
        fleet.beat("a", SENDER, KEEP);
        fleet.requestPause("a", "close", true, "ops");
        shard.clock(41_000);
        if (isForgottenByAnother) {
            fleet.beat("b", SENDER, KEEP);
        }

        assertThat(fleet.requestPause("a", "close", false, "ops")).isTrue();
        assertThat(fleet.requestPause("a", "mail", true, "ops")).isFalse();

        assertThat(fleet.beat("a", SENDER, KEEP).pauseRequests())
                .extracting(Beat.PauseRequest::listener, Beat.PauseRequest::pause)
                .containsExactly(tuple("close", false));
    }

    @Test
    void forgetsANodeThatLeavesAtOnce() {
        fleet.beat("a", SENDER, KEEP);
        fleet.beat("b", SENDER, KEEP);
        fleet.requestPause("a", "close", true, "ops");
        fleet.leave("a");
        fleet.leave("a");

        assertThat(ids()).containsExactly("b");
        assertThat(keysWith("a")).isEmpty();
        assertThat(fleet.beat("b", SENDER, KEEP).first()).isTrue();
    }

    @Test
    void returnsTheLatestPauseRequestForEachListenerWithARisingNumber() {
        assertThat(fleet.requestPause("a", "close", true, "ops"))
                .as("no such node")
                .isFalse();
        fleet.beat("a", SENDER, KEEP);
        assertThat(fleet.requestPause("a", "close", true, "ops: night")).isTrue();
        assertThat(fleet.requestPause("a", "mail", true, "ops")).isTrue();
        shard.clock(500); // the clock goes back
        assertThat(fleet.requestPause("a", "close", false, "ops")).isTrue();

        assertThat(fleet.beat("a", SENDER, KEEP).pauseRequests())
                .containsExactlyInAnyOrder(
                        new Beat.PauseRequest("close", false, 1_000_001, "ops"),
                        new Beat.PauseRequest("mail", true, 1_000_000, "ops"))
                .isEqualTo(fleet.beat("a", SENDER, KEEP).pauseRequests());
        assertThat(fleet.beat("b", SENDER, KEEP).pauseRequests()).isEmpty();
        shard.clock(40_000);
        assertThat(fleet.requestPause("a", "close", true, "ops"))
                .as("silent, with a request")
                .isTrue();
        assertThat(fleet.requestPause("a", "other", true, "ops")).as("silent").isFalse();
    }

    @Test
    void listsANodeWhoseReportCannotBeRead() {
        fleet.beat("a", SENDER, KEEP);
        for (String garbage : List.of("", "x", "1000:{", "1000:[]", "1000:{\"listeners\":[1]}")) {
            shard.redis().command("HSET", PREFIX + "reports", "a", garbage);

            assertThat(ids()).as(garbage).containsExactly("a");
        }
        shard.redis().command("HDEL", PREFIX + "reports", "a");
        assertThat(ids()).containsExactly("a");
    }

    @Test
    void listsMoreNodesThanOneCallTakes() {
        IntStream.range(0, 230).forEach(i -> fleet.beat("node-" + i, SENDER, KEEP));

        assertThat(ids()).hasSize(230).doesNotHaveDuplicates();
    }

    @Test
    void letsOneNodeTakeASnapshotAndTheOthersReadIt() {
        Duration pause = Duration.ofSeconds(5);
        ShardStats total = new ShardStats(
                ms(1000),
                new ShardStats.Pause(ms(900), "ops"),
                1,
                2,
                3,
                4,
                null,
                Set.of(Kind.DEAD),
                new ShardStats.Counters(1, 2, 3, 4, 5, 6, 7, 8));
        FleetSnapshot snapshot = new FleetSnapshot(
                ms(1000),
                3,
                List.of(
                        new TopicSummary("mail", 4, 1, total, new Rates(1, 0.5, 0, 0, 0), 8, null),
                        new TopicSummary("damaged", 1, 0, null, null, 0, "refused")));
        assertThat(fleet.sharedSnapshot(pause)).isEqualTo(new SharedSnapshot(true, null));
        assertThat(fleet.sharedSnapshot(pause)).as("nobody has shared one").isEqualTo(new SharedSnapshot(false, null));
        fleet.shareSnapshot(snapshot, pause);
        assertThat(fleet.sharedSnapshot(pause)).isEqualTo(new SharedSnapshot(false, snapshot));
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "taker")).isBetween(1L, 5000L);
        assertThat((Long) shard.redis().command("PTTL", PREFIX + "snapshot")).isBetween(5000L, 40_000L);

        shard.redis().command("DEL", PREFIX + "taker");
        assertThat(fleet.sharedSnapshot(pause).take()).as("after the pause").isTrue();
        shard.redis().command("SET", PREFIX + "snapshot", "garbage");
        assertThat(fleet.sharedSnapshot(pause)).isEqualTo(new SharedSnapshot(false, null));
    }

    @Test
    void namesAKeyOfAnotherType() {
        shard.redis().command("SET", PREFIX + "since", "garbage");

        assertThatThrownBy(() -> fleet.beat("a", SENDER, KEEP))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("beat.lua on the registry of nodes")
                .hasMessageContaining("The key " + PREFIX + "since is not a sorted set");
    }

    /** Each script fails at each command that it executes: the same call again does the rest, and no node stays for ever. */
    @Test
    void doesTheRestWhereAScriptStoppedHalfWay() {
        String requestsOfGone = PREFIX + "pause-requests:gone";
        try (FaultyShard faulty = new FaultyShard(script -> script)) {
            for (int command = 1; command <= 25; command++) {
                faulty.empty();
                FleetStore broken = faulty.store.fleet();
                broken.beat("gone", SENDER, Duration.ofSeconds(1));
                broken.beat("leaves", SENDER, KEEP);
                broken.requestPause("gone", "close", true, "ops");
                faulty.redis().command("PERSIST", requestsOfGone); // as if the request had stopped half way
                faulty.clock(110_000);

                faulty.failAt(command, false);
                faulty.attempt(store -> store.fleet().beat("a", SENDER, KEEP));
                faulty.failAt(command, false);
                faulty.attempt(store -> {
                    store.fleet().leave("leaves");
                    return "left";
                });
                faulty.failAt(command, false);
                faulty.attempt(store -> store.fleet().requestPause("a", "close", true, "ops"));
                faulty.heal();

                broken.leave("leaves");
                Beat beat = broken.beat("a", SENDER, KEEP);
                broken.requestPause("a", "close", true, "ops");
                assertThat(beat.first()).as("first after " + command).isTrue();
                assertThat(broken.beat("a", SENDER, KEEP).pauseRequests()).hasSize(1);
                assertThat(broken.nodes()).extracting(NodeInfo::id).containsExactly("a");
                broken.leave("a");
                assertThat(faulty.redis().snapshot().keySet())
                        .as("after " + command)
                        .filteredOn(key -> key.startsWith(PREFIX))
                        .containsExactly(requestsOfGone);
                assertThat((Long) faulty.redis().command("PTTL", requestsOfGone))
                        .as("after " + command)
                        .isPositive();
            }
        }
    }

    private List<String> ids() {
        return fleet.nodes().stream().map(NodeInfo::id).toList();
    }

    private List<String> keysWith(String node) {
        return shard.redis().snapshot().entrySet().stream()
                .filter(entry -> entry.getKey().endsWith(":" + node)
                        || (entry.getValue().content() instanceof Map<?, ?> map && map.containsKey(node)))
                .map(Map.Entry::getKey)
                .toList();
    }
}
