package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.claim;
import static io.easykit.delayqueue.redis.TestShard.in;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Browsed;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Position;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The shards of a topic on the nodes of a cluster. */
class RedisClusterIntegrationTests {

    private static final RedisCluster CLUSTER = RedisCluster.start(2, 0);
    private static final LettuceConnectionFactory CONNECTIONS = connections();

    /** Calls to a slot that stands on its way fail soon, and the test makes many of them. */
    private static final RedisQueueStore STORE = new RedisQueueStore(
            CONNECTIONS, "shop:dq:", UnaryOperator.identity(), new SlotRetry(Duration.ofMillis(20)));

    private static LettuceConnectionFactory connections() {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                new RedisClusterConfiguration(List.of(CLUSTER.addresses().split(",", -1))));
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    @AfterAll
    static void close() {
        STORE.close();
        CONNECTIONS.destroy();
        CLUSTER.close();
    }

    @Test
    void keepsEachShardWholeOnTheNodeOfItsSlot() {
        STORE.prepare();
        List<ShardKey> shards =
                IntStream.range(0, 4).mapToObj(i -> new ShardKey("spread", i)).toList();
        Queue<ShardKey> wakeups = new ConcurrentLinkedQueue<>();
        STORE.subscribe(shards, (shard, due) -> wakeups.add(shard));
        await().until(() -> wakeups.containsAll(shards));
        wakeups.clear();
        for (ShardKey shard : shards) {
            STORE.send(shard, List.of(in("a", 0, "one"), in("b", 0, "two")));
            Claimed claimed = await().until(
                            () -> STORE.claim(shard, claim("o", 1, 10, 30_000)),
                            reply -> reply.deliveries().size() == 2);
            Browsed flying = STORE.browse(shard, new Browse(State.IN_FLIGHT, false, null, 1, 512));
            Position first = flying.entries().get(0).position();
            assertThat(STORE.browse(shard, new Browse(State.IN_FLIGHT, false, first, 10, 512))
                            .entries())
                    .hasSize(1);
            assertThat(STORE.errors(shard, first, 10).total()).isZero();
            assertThat(STORE.acknowledge(
                            shard, List.of(claimed.deliveries().get(0).lease())))
                    .containsExactly(Settlement.APPLIED);

            try (RawRedis owner =
                    CLUSTER.masterOf(new RedisKeys("shop:dq:").prefix(shard)).connect()) {
                assertThat(owner.snapshot().keySet().stream().filter(key -> key.contains("{" + shard + "}")))
                        .hasSize(7);
            }
        }
        await().until(() -> wakeups.containsAll(shards));
    }

    /**
     * While a slot moves, its keys lie on two nodes. A claim that found the due times without the bodies would bury every
     * message, and a send to the new node would collide with keys that are still to move.
     */
    @Test
    void standsStillWhileItsSlotMovesToAnotherNode() {
        ShardKey shard = new ShardKey("moving", 0);
        String prefix = new RedisKeys("shop:dq:").prefix(shard);
        List<String> names = List.of("a", "b", "c", "d");
        STORE.send(shard, names.stream().map(id -> in(id, 0, id)).toList());
        RedisServer source = CLUSTER.masterOf(prefix);
        RedisServer target =
                CLUSTER.masters().stream().filter(n -> n != source).findFirst().orElseThrow();
        try (RawRedis from = source.connect();
                RawRedis to = target.connect()) {
            String slot = String.valueOf(from.command("CLUSTER", "KEYSLOT", prefix));
            String sourceId = text(from.command("CLUSTER", "MYID"));
            String targetId = text(to.command("CLUSTER", "MYID"));
            to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", sourceId);
            from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", targetId);
            assertStandsStill(shard);
            List<String> keys = List.copyOf(from.snapshot().keySet()).stream()
                    .filter(key -> key.startsWith(prefix))
                    .toList();
            assertThat(keys).hasSize(6);
            for (String key : keys) {
                from.command("MIGRATE", target.host(), String.valueOf(target.port()), key, "0", "5000");
                assertStandsStill(shard);
            }
            to.command("CLUSTER", "SETSLOT", slot, "NODE", targetId);
            from.command("CLUSTER", "SETSLOT", slot, "NODE", targetId);
        }
        Claimed claimed =
                await().ignoreExceptions().until(() -> STORE.claim(shard, claim("o", 1, 10, 30_000)), reply -> true);
        assertThat(claimed.deliveries()).extracting(Delivery::id).containsExactlyElementsOf(names);
        assertThat(STORE.stats(shard).imbalance()).isZero();
    }

    private static void assertStandsStill(ShardKey shard) {
        assertThatThrownBy(() -> STORE.claim(shard, claim("o", 1, 10, 30_000)))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("TRYAGAIN");
        assertThatThrownBy(() -> STORE.send(shard, List.of(in("e", 0, "e"))))
                .isInstanceOf(StoreUnavailableException.class);
    }

    private static String text(@Nullable Object bulk) {
        return RawRedis.text((byte[]) Objects.requireNonNull(bulk));
    }
}
