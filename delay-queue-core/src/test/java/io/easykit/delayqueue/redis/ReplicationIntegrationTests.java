package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.at;
import static io.easykit.delayqueue.redis.TestShard.claim;
import static io.easykit.delayqueue.redis.TestShard.in;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Replicated;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Sends that wait until replicas have the message, and what a promoted replica has, against servers with replicas. */
class ReplicationIntegrationTests {

    private static final ShardKey SHARD = new ShardKey("orders", 0);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
    }

    @Test
    void returnsWhenTheReplicasHaveTheMessage() {
        RedisServer master = open(RedisServer.start());
        List<RedisServer> replicas = List.of(replicaOf(master), replicaOf(master));
        RedisQueueStore store = store(standalone(master));

        for (int i = 0; i < 50; i++) {
            String id = "m" + i;

            Replicated sent = store.sendReplicated(SHARD, List.of(in(id, 0, id)), new ReplicaWait(2, LONG));

            assertThat(sent).isEqualTo(new Replicated(List.of(SendOutcome.STORED), 2));
            assertThat(replicas)
                    .allSatisfy(replica -> assertThat(keysOf(replica)).contains("dq:{orders:0}:m:" + id));
        }
    }

    @Test
    void storesTheMessageOnceAndSaysThatAReplicaIsMissing() {
        RedisServer master = open(RedisServer.start());
        RedisServer replica = replicaOf(master);
        RedisQueueStore store = store(standalone(master));
        store.sendReplicated(SHARD, List.of(in("before", 0, "b")), new ReplicaWait(1, LONG));
        replica.pause();

        Replicated missing =
                store.sendReplicated(SHARD, List.of(in("a", 0, "a")), new ReplicaWait(1, Duration.ofMillis(100)));
        Replicated again =
                store.sendReplicated(SHARD, List.of(in("a", 0, "a")), new ReplicaWait(1, Duration.ofMillis(100)));
        replica.resume();
        Replicated confirmed = store.sendReplicated(SHARD, List.of(in("a", 0, "a")), new ReplicaWait(1, LONG));

        assertThat(missing).isEqualTo(new Replicated(List.of(SendOutcome.STORED), 0));
        assertThat(again).isEqualTo(new Replicated(List.of(SendOutcome.REPLAYED), 0));
        assertThat(confirmed).isEqualTo(new Replicated(List.of(SendOutcome.REPLAYED), 1));
        assertThat(keysOf(replica)).contains("dq:{orders:0}:m:a");
        assertThat(store.stats(SHARD).waiting()).isEqualTo(2);
    }

    /** The connection of this attempt has written nothing itself, and must not be content with that. */
    @Test
    void confirmsOverANewConnectionWhatAnEarlierOneHasWritten() {
        RedisServer master = open(RedisServer.start());
        RedisServer replica = replicaOf(master);
        RedisQueueStore first = store(standalone(master));
        RedisQueueStore second = store(standalone(master));
        first.sendReplicated(SHARD, List.of(in("before", 0, "b")), new ReplicaWait(1, LONG));
        second.sendReplicated(new ShardKey("other", 0), List.of(in("b", 0, "b")), new ReplicaWait(1, LONG));
        replica.pause();
        first.send(SHARD, List.of(in("a", 0, "a")));

        Replicated repeated =
                second.sendReplicated(SHARD, List.of(in("a", 0, "a")), new ReplicaWait(1, Duration.ofMillis(100)));

        assertThat(repeated).isEqualTo(new Replicated(List.of(SendOutcome.REPLAYED), 0));
        replica.resume();
    }

    @Test
    void keepsNoOtherCallWaiting() {
        RedisServer master = open(RedisServer.start());
        RedisServer replica = replicaOf(master);
        RedisQueueStore store = store(standalone(master));
        store.sendReplicated(SHARD, List.of(in("before", 0, "b")), new ReplicaWait(1, LONG));
        replica.pause();
        CompletableFuture<Replicated> waiting = CompletableFuture.supplyAsync(
                () -> store.sendReplicated(SHARD, List.of(in("a", 0, "a")), new ReplicaWait(1, LONG)));
        await().until(() -> store.find(SHARD, "a").isPresent());

        store.send(SHARD, List.of(in("b", 0, "b")));

        assertThat(waiting).isNotDone();
        replica.resume();
        assertThat(waiting)
                .succeedsWithin(LONG)
                .extracting(Replicated::replicas)
                .isEqualTo(1);
    }

    @Test
    void waitsForTheReplicasOfMessagesOfSeveralThreadsAlthoughThisOneIsInterrupted() throws Exception {
        RedisServer master = open(RedisServer.start());
        RedisServer replica = replicaOf(master);
        RedisQueueStore store = store(standalone(master));
        store.sendReplicated(SHARD, List.of(in("before", 0, "b")), new ReplicaWait(1, LONG));
        replica.pause();
        FutureTask<Replicated> sending = new FutureTask<>(() ->
                store.sendReplicated(SHARD, List.of(in("a", 0, "a"), in("b", 0, "b")), new ReplicaWait(1, LONG), true));
        Thread thread = new Thread(sending);
        thread.start();
        await().until(() -> store.find(SHARD, "b").isPresent());
        thread.interrupt();
        await().until(() -> !thread.isInterrupted() || sending.isDone());
        replica.resume();

        assertThat(sending.get(30, TimeUnit.SECONDS))
                .isEqualTo(new Replicated(List.of(SendOutcome.STORED, SendOutcome.STORED), 1));
    }

    /** A write that waits for two of one replica takes its whole timeout; others that come meanwhile share the next wait. */
    @Test
    void sharesOneWaitAmongTheSendsThatComeTogether() throws Exception {
        RedisServer master = open(RedisServer.start());
        replicaOf(master);
        RedisQueueStore store = store(standalone(master));
        store.sendReplicated(SHARD, List.of(in("before", 0, "b")), new ReplicaWait(1, LONG));
        long before = calls(master, "wait");
        ExecutorService threads = Executors.newFixedThreadPool(40);
        opened.add(threads::shutdownNow);
        List<Future<Replicated>> sends = IntStream.range(0, 400)
                .mapToObj(i -> threads.submit(() -> store.sendReplicated(
                        new ShardKey("orders", i % 8), List.of(in("m" + i, 0, "m")), new ReplicaWait(1, LONG))))
                .toList();

        for (Future<Replicated> send : sends) {
            assertThat(send.get()).isEqualTo(new Replicated(List.of(SendOutcome.STORED), 1));
        }
        assertThat(calls(master, "wait") - before).isBetween(1L, 200L);
    }

    @Test
    void storesNothingWithoutThePermissionToWait() {
        RedisServer master = open(RedisServer.start());
        replicaOf(master);
        try (RawRedis redis = master.connect()) {
            redis.command("ACL", "SETUSER", "shop", "on", ">secret", "~dq:*", "+@all", "-wait");
        }
        RedisStandaloneConfiguration user = standalone(master);
        user.setUsername("shop");
        user.setPassword("secret");
        RedisQueueStore store = store(user);

        assertThatThrownBy(() -> store.sendReplicated(SHARD, List.of(in("a", 0, "a")), ReplicaWait.of(1)))
                .isInstanceOf(StoreRefusedException.class)
                .hasMessageContaining("'wait' command")
                .hasMessageContaining("+wait");
        assertThat(store.find(SHARD, "a")).isEmpty();

        try (RawRedis redis = master.connect()) {
            redis.command("ACL", "SETUSER", "shop", "+wait");
        }
        assertThat(store.sendReplicated(SHARD, List.of(in("a", 0, "a")), new ReplicaWait(1, LONG)))
                .isEqualTo(new Replicated(List.of(SendOutcome.STORED), 1));
    }

    @Test
    void waitsOnEachMasterOfAClusterAndFollowsAShardToAnotherOne() {
        RedisCluster cluster = open(RedisCluster.start(3, 1));
        RedisQueueStore store =
                store(new RedisClusterConfiguration(List.of(cluster.addresses().split(",", -1))));
        for (int i = 0; i < 12; i++) {
            ShardKey shard = new ShardKey("spread", i);
            assertThat(store.sendReplicated(shard, List.of(in("a", 0, "a")), new ReplicaWait(1, LONG)))
                    .isEqualTo(new Replicated(List.of(SendOutcome.STORED), 1));
        }
        String key = new RedisKeys("dq:").prefix(new ShardKey("spread", 0));
        int home = cluster.shareOf(key);

        cluster.moveSlot(key, (home + 1) % 3, 1);

        assertThat(store.sendReplicated(new ShardKey("spread", 0), List.of(in("b", 0, "b")), new ReplicaWait(1, LONG)))
                .isEqualTo(new Replicated(List.of(SendOutcome.STORED), 1));
    }

    /** Redis replicates each script as a whole, so messages and their counts are lost together. */
    @Test
    void aPromotedReplicaThatLacksWritesHasALedgerThatBalances() throws Exception {
        RedisServer master = open(RedisServer.start());
        RedisServer replica = replicaOf(master);
        RedisQueueStore store = store(standalone(master));
        AtomicBoolean ended = new AtomicBoolean();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        opened.add(thread::shutdownNow);
        Future<?> traffic = thread.submit(() -> sendAndAcknowledge(store, ended::get));
        await().until(() -> sizeOf(replica) > 100);

        replica.promote();
        ShardStats promoted = store(standalone(replica)).stats(SHARD);
        await().until(() -> acknowledged(store) > promoted.counters().acknowledged() + 50);
        ended.set(true);
        traffic.get(30, TimeUnit.SECONDS);

        assertThat(promoted.counters().sent()).isPositive();
        assertThat(promoted.imbalance()).isZero();
        assertThat(store.stats(SHARD).imbalance()).isZero();
    }

    private static void sendAndAcknowledge(RedisQueueStore store, BooleanSupplier ended) {
        for (int i = 0; !ended.getAsBoolean(); i++) {
            store.send(SHARD, List.of(at("due" + i, 1, "a"), in("later" + i, 3_600_000, "b")));
            List<Delivery> claimed =
                    store.claim(SHARD, claim("o", i + 1, 1, 30_000)).deliveries();
            store.acknowledge(SHARD, claimed.stream().map(Delivery::lease).toList());
        }
    }

    private static long acknowledged(RedisQueueStore store) {
        return store.stats(SHARD).counters().acknowledged();
    }

    private RedisServer replicaOf(RedisServer master) {
        RedisServer replica = open(RedisServer.start());
        replica.replicaOf(master);
        return replica;
    }

    private static RedisStandaloneConfiguration standalone(RedisServer server) {
        return new RedisStandaloneConfiguration(server.host(), server.port());
    }

    private RedisQueueStore store(RedisConfiguration configuration) {
        LettuceConnectionFactory application = configuration instanceof RedisClusterConfiguration cluster
                ? new LettuceConnectionFactory(cluster)
                : new LettuceConnectionFactory((RedisStandaloneConfiguration) configuration);
        LettuceConnectionFactory own = DedicatedConnections.copyOf(application, Duration.ofSeconds(5));
        own.start();
        opened.add(own::destroy);
        return open(new RedisQueueStore(own));
    }

    private <T extends AutoCloseable> T open(T resource) {
        opened.add(resource);
        return resource;
    }

    private static List<String> keysOf(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return List.copyOf(redis.snapshot().keySet());
        }
    }

    /** Number of keys. */
    private static long sizeOf(RedisServer server) {
        try (RawRedis redis = server.connect()) {
            return (Long) Objects.requireNonNull(redis.command("DBSIZE"));
        }
    }

    private static long calls(RedisServer server, String command) {
        try (RawRedis redis = server.connect()) {
            String stats = redis.info("commandstats").get("cmdstat_" + command);
            return stats == null ? 0 : Long.parseLong(stats.replaceFirst("calls=(\\d+).*", "$1"));
        }
    }
}
