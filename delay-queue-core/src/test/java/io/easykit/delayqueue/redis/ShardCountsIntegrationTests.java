package io.easykit.delayqueue.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.engine.ListenerContainer;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The shard count of a topic while masters of a cluster are away, and where its copies differ. */
class ShardCountsIntegrationTests {

    private static final int SHARDS = 8;

    private static final RedisCluster CLUSTER =
            RedisCluster.start(3, 0, "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "60000");

    private static final Pattern SCRIPTS = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

    private static final Set<String> USED = new HashSet<>();

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final RedisKeys keys = new RedisKeys("dq:");

    @AfterAll
    static void closeCluster() {
        CLUSTER.close();
    }

    @AfterEach
    void close() throws Exception {
        CLUSTER.masters().forEach(RedisServer::resume);
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @Test
    void aNodeThatStartsWhileTheMasterOfShardZeroIsAwayUsesTheOtherShards() {
        String topic = "orders";
        node().declare(topic, SHARDS);
        RedisServer away = masterOf(topic, 0);
        away.kill();

        QueueBackend late = node();
        Set<String> delivered = ConcurrentHashMap.newKeySet();
        DelayQueueEngine engine = engine(late, 0);
        ListenerContainer container = engine.container(
                ListenerEndpoint.builder("close", topic, String.class).build(), message -> {
                    delivered.add(message.id());
                });
        opened.add(container::stop);
        container.start();
        Set<String> stored = new HashSet<>();
        for (int i = 0; i < 12; i++) {
            String id = "m" + i;
            if (sends(engine, topic, id)) {
                stored.add(id);
            }
        }

        assertThat(stored).isNotEmpty();
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(delivered).containsAll(stored));
        assertThat(late.declared(topic).all()).isEqualTo(SHARDS);
        away.restart();
        for (int i = 0; i < 12; i++) {
            String id = "m" + i;
            await().atMost(Duration.ofSeconds(20)).until(() -> stored.contains(id) || sends(engine, topic, id));
        }
        await().atMost(Duration.ofSeconds(20)).until(() -> delivered.size() == 12);
    }

    @Test
    void aNewTopicWaitsForShardZeroAndAnotherCountIsRefusedWithoutIt() throws Exception {
        String topic = topicWithShardsOnTwoMasters();
        RedisServer away = masterOf(topic, 0);
        QueueBackend store = connectedNode();
        away.pause();
        assertThatThrownBy(() -> store.declare(topic, 2)).isInstanceOf(StoreUnavailableException.class);
        away.resume();
        await().ignoreExceptions().until(() -> store.declare(topic, 2) == 2);

        away.pause();
        DelayQueueEngine other = engine(store, 1);

        assertThatThrownBy(() -> other.template().send(OutgoingMessage.of(topic, "a")))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 2 shards");
    }

    @Test
    void ofTwoNodesWithDifferentCountsOneDeclaresItsCount() throws Exception {
        List<Callable<Integer>> nodes = List.of(declaring("race", 2), declaring("race", 5));
        ExecutorService threads = Executors.newFixedThreadPool(2);
        opened.add(threads::shutdownNow);

        Set<Integer> kept = new HashSet<>();
        for (Future<Integer> declared : threads.invokeAll(nodes)) {
            kept.add(declared.get());
        }

        assertThat(kept).hasSize(1).containsAnyOf(2, 5);
        assertThat(connectedNode().declared("race").all())
                .isEqualTo(kept.iterator().next());
    }

    /** A master was away while the count was changed by hand; its copy is void. */
    @Test
    void followsTheNewestDeclarationAndCompletesItWhenAMasterIsBack() {
        String topic = topicWithShardsOnTwoMasters();
        QueueBackend store = connectedNode();
        store.declare(topic, 2);
        RedisServer away = masterOf(topic, 1);
        try (RawRedis first = masterOf(topic, 0).connect()) {
            first.command("HDEL", keys.settings(new ShardKey(topic, 0)), "shards");
        }
        away.pause();
        assertThat(store.declare(topic, 4)).isEqualTo(4);
        away.resume();
        await().ignoreExceptions().until(() -> store.declare(topic, 2) == 4);

        masterOf(topic, 0).pause();

        assertThat(store.declared(topic).all()).isEqualTo(4);
    }

    @Test
    void aTopicGrowsWhenShardZeroAnswersAndItsCopiesShowTheGrowthWithoutIt() {
        String topic = topicWithShardsOnTwoMasters();
        QueueBackend store = connectedNode();
        QueueBackend other = connectedNode();
        store.declare(topic, 2);
        RedisServer away = masterOf(topic, 0);
        away.pause();
        assertThatThrownBy(() -> store.grow(topic, 4)).isInstanceOf(StoreUnavailableException.class);
        assertThat(store.declared(topic)).isEqualTo(ShardCount.of(2));
        away.resume();
        await().ignoreExceptions().until(() -> store.grow(topic, 4).all() == 4);

        away.pause();
        assertThat(other.declared(topic)).returns(2, ShardCount::home).returns(4, ShardCount::all);
    }

    @Test
    void readsShardZeroAloneMostOfTheTime() {
        QueueBackend store = connectedNode();
        store.declare("quiet", SHARDS);

        assertThat(scriptsOf(() -> store.declare("quiet", SHARDS))).isEqualTo(1);
        assertThat(scriptsOf(() -> declareInTurn(store, "quiet", ShardCounts.SHORT_READINGS)))
                .isEqualTo(ShardCounts.SHORT_READINGS - 1 + ShardCounts.COPIES);
        assertThat(scriptsOf(() -> store.declare("quiet", SHARDS))).isEqualTo(1);
    }

    @Test
    void restoresACountThatShardZeroHasLostAtOnceAndACopyLater() {
        QueueBackend store = connectedNode();
        store.declare("lossy", SHARDS);
        forget("lossy", 0);
        store.declare("lossy", SHARDS);
        assertThat(copyOf("lossy", 0)).isEqualTo(SHARDS);

        forget("lossy", 3);
        declareInTurn(store, "lossy", ShardCounts.SHORT_READINGS + 1);

        assertThat(copyOf("lossy", 3)).isEqualTo(SHARDS);
    }

    /** Its writer knew of it, and no other node. */
    @Test
    void findsAGrowthThatOnlyTheCopiesHave() {
        QueueBackend writer = connectedNode();
        writer.declare("grown", 2);
        QueueBackend other = connectedNode();
        other.declare("grown", 2);
        writer.grow("grown", 4);
        try (RawRedis master = masterOf("grown", 0).connect()) {
            master.command("HDEL", keys.settings(new ShardKey("grown", 0)), "grown");
        }
        List<Integer> counts = new ArrayList<>();
        for (int i = 0; i <= ShardCounts.SHORT_READINGS; i++) {
            counts.add(other.declare("grown", ShardCount.of(2)).all());
        }

        assertThat(counts).last().isEqualTo(4);
    }

    private static void declareInTurn(QueueBackend store, String topic, int times) {
        for (int i = 0; i < times; i++) {
            assertThat(store.declare(topic, SHARDS)).isEqualTo(SHARDS);
        }
    }

    private void forget(String topic, int shard) {
        try (RawRedis master = masterOf(topic, shard).connect()) {
            master.command("DEL", keys.settings(new ShardKey(topic, shard)));
        }
    }

    private int copyOf(String topic, int shard) {
        try (RawRedis master = masterOf(topic, shard).connect()) {
            return Integer.parseInt(text(master.command("HGET", keys.settings(new ShardKey(topic, shard)), "shards")));
        }
    }

    private static String text(@Nullable Object reply) {
        return reply instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : "0";
    }

    private static long scriptsOf(Runnable calls) {
        long before = scripts();
        calls.run();
        return scripts() - before;
    }

    private static long scripts() {
        long sum = 0;
        for (RedisServer master : CLUSTER.masters()) {
            try (RawRedis redis = master.connect()) {
                Matcher matcher = SCRIPTS.matcher(text(redis.command("INFO", "commandstats")));
                sum += matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
            }
        }
        return sum;
    }

    private Callable<Integer> declaring(String topic, int shards) {
        QueueBackend store = connectedNode();
        return () -> store.declare(topic, shards);
    }

    private String topicWithShardsOnTwoMasters() {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "topic-" + i)
                .filter(topic -> USED.add(topic) && masterOf(topic, 0) != masterOf(topic, 1))
                .findFirst()
                .orElseThrow();
    }

    private DelayQueueEngine engine(QueueBackend store, int shards) {
        DelayQueueEngine engine = DelayQueueEngine.builder(store)
                .codec(new JacksonPayloadCodec())
                .shards(topic -> shards)
                .build();
        opened.add(engine);
        return engine;
    }

    private static boolean sends(DelayQueueEngine engine, String topic, String id) {
        try {
            engine.template().send(OutgoingMessage.of(topic, id).id(id));
            return true;
        } catch (StoreUnavailableException away) {
            return false;
        }
    }

    private RedisServer masterOf(String topic, int shard) {
        return CLUSTER.masterOf(keys.prefix(new ShardKey(topic, shard)));
    }

    private RedisQueueStore connectedNode() {
        RedisQueueStore store = node();
        store.prepare();
        return store;
    }

    private RedisQueueStore node() {
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                new RedisClusterConfiguration(List.of(CLUSTER.addresses().split(",", -1))));
        LettuceConnectionFactory own = DedicatedConnections.copyOf(application, Duration.ofSeconds(1));
        own.start();
        opened.add(own::destroy);
        RedisQueueStore store = new RedisQueueStore(own);
        opened.add(store);
        return store;
    }
}
