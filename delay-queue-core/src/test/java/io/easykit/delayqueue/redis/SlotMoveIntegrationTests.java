package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.in;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.engine.DelayQueueEngine;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.redis.DedicatedConnections;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Calls go on while a cluster moves the slot of a shard to another master. */
class SlotMoveIntegrationTests {

    private static final RedisCluster CLUSTER = RedisCluster.start(2, 0);

    /** A slot with little in it moves in some milliseconds, on a busy machine in some hundred. */
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(5);

    private static final List<AutoCloseable> OPENED = new ArrayList<>(List.of(CLUSTER));

    @AfterAll
    static void close() throws Exception {
        for (int i = OPENED.size() - 1; i >= 0; i--) {
            OPENED.get(i).close();
        }
    }

    @Test
    void sendsClaimsAndAcknowledgesWhileTheSlotOfTheShardMoves() {
        RedisQueueStore store = store(new SlotRetry(COMMAND_TIMEOUT));
        ShardKey shard = new ShardKey("orders", 0);
        String key = new RedisKeys("dq:").prefix(shard);
        long repeatedBefore = repetitions();
        AtomicBoolean moving = new AtomicBoolean(true);
        CompletableFuture<List<String>> sent = CompletableFuture.supplyAsync(() -> sendWhile(moving, store, shard));
        CompletableFuture<List<String>> run = CompletableFuture.supplyAsync(() -> runUntil(sent, store, shard));

        int home = CLUSTER.shareOf(key);
        int moves = 0;
        while (!sent.isDone() && !run.isDone() && (moves < 6 || (repetitions() == repeatedBefore && moves < 100))) {
            moves++;
            CLUSTER.moveSlot(key, (home + moves) % 2, 1);
        }
        moving.set(false);

        assertThat(sent).succeedsWithin(Duration.ofMinutes(1));
        assertThat(run).succeedsWithin(Duration.ofMinutes(1));
        assertThat(run.join()).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(sent.join());
        ShardStats stats = store.stats(shard);
        assertThat(stats.counters().acknowledged()).isEqualTo(sent.join().size());
        assertThat(stats.imbalance()).isZero();
        assertThat(repetitions() - repeatedBefore)
                .as("calls that Redis declined with TRYAGAIN, and that succeeded later")
                .isPositive();
    }

    @Test
    void letsASendOutwaitASlowMoveWithinItsSendTimeout() {
        RedisQueueStore store = store(new SlotRetry(Duration.ofMillis(100)));
        ShardKey shard = new ShardKey("slow", 0);
        String key = new RedisKeys("dq:").prefix(shard);
        store.declare("slow", 1);
        try (DelayQueueEngine engine = DelayQueueEngine.builder(store)
                        .codec(new JacksonPayloadCodec())
                        .build();
                RedisCluster.SlotMove move = CLUSTER.beginMove(key, 1 - CLUSTER.shareOf(key))) {
            CompletableFuture<SendResult> patient = CompletableFuture.supplyAsync(() -> engine.template()
                    .send(OutgoingMessage.of("slow", "p")
                            .after(Duration.ofHours(1))
                            .sendTimeout(Duration.ofMinutes(2))));
            assertThatThrownBy(() -> store.send(shard, List.of(in("impatient", 0, "i"))))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("TRYAGAIN");
            assertThat(patient).isNotDone();

            while (move.moveKeys(1)) {
                // until none is left
            }
            move.finish();

            assertThat(patient)
                    .succeedsWithin(Duration.ofMinutes(1))
                    .extracting(SendResult::outcome)
                    .isEqualTo(SendOutcome.STORED);
        }
    }

    /** Prints how long a shard with many messages stands still, for docs/topologies.md. */
    @Test
    @Tag("heavy")
    void movesAShardWithAHundredThousandPendingMessages() {
        RedisQueueStore store = store(new SlotRetry(COMMAND_TIMEOUT));
        for (int keysACall : new int[] {10, 100, 1_000}) {
            ShardKey shard = new ShardKey("large" + keysACall, 0);
            String key = new RedisKeys("dq:").prefix(shard);
            for (int i = 0; i < 100_000; i += QueueStore.MAX_BATCH) {
                store.send(
                        shard,
                        IntStream.range(i, i + QueueStore.MAX_BATCH)
                                .mapToObj(n -> in("m" + n, 3_600_000, "a body of 140 bytes".repeat(8)))
                                .toList());
            }
            AtomicBoolean moving = new AtomicBoolean(true);
            CompletableFuture<Duration> longest =
                    CompletableFuture.supplyAsync(() -> longestStandstill(moving, store, shard));

            long began = System.nanoTime();
            CLUSTER.moveSlot(key, 1 - CLUSTER.shareOf(key), keysACall);
            Duration took = Duration.ofNanos(System.nanoTime() - began);
            moving.set(false);

            assertThat(longest).succeedsWithin(Duration.ofMinutes(1));
            System.out.printf(
                    "100,000 pending messages, %,d keys a MIGRATE: the slot moves for %,d ms,"
                            + " the shard stands still for %,d ms%n",
                    keysACall, took.toMillis(), longest.join().toMillis());
            assertThat(store.stats(shard).waiting()).isEqualTo(100_000);
            assertThat(store.stats(shard).imbalance()).isZero();
        }
    }

    /** The longest time between two calls that succeeded. */
    private static Duration longestStandstill(AtomicBoolean moving, RedisQueueStore store, ShardKey shard) {
        long longest = 0;
        long last = System.nanoTime();
        while (moving.get()) {
            try {
                store.extend(shard, List.of(new Lease("nobody", 1)), Duration.ofSeconds(1));
                long now = System.nanoTime();
                longest = Math.max(longest, now - last);
                last = now;
            } catch (StoreUnavailableException e) {
                assertThat(e).hasMessageContaining("TRYAGAIN");
            }
        }
        store.stats(shard);
        return Duration.ofNanos(Math.max(longest, System.nanoTime() - last));
    }

    private static List<String> sendWhile(AtomicBoolean moving, RedisQueueStore store, ShardKey shard) {
        List<String> sent = new ArrayList<>();
        while (moving.get()) {
            String id = "m" + sent.size();
            assertThat(store.send(shard, List.of(in(id, 0, id)))).containsExactly(SendOutcome.STORED);
            sent.add(id);
        }
        return sent;
    }

    /**
     * Claims, and acknowledges half with the next claim and half by a call of its own, until nothing is left. A message sent
     * without a delay is due up to a millisecond later, so an empty reply alone does not mean that nothing waits.
     */
    private static List<String> runUntil(CompletableFuture<?> sent, RedisQueueStore store, ShardKey shard) {
        List<String> run = new ArrayList<>();
        List<Lease> carried = List.of();
        for (long request = 1; ; request++) {
            boolean last = sent.isDone();
            Claimed claimed =
                    store.claim(shard, new Claim("consumer", request, 10, 10, Duration.ofMinutes(5), carried));
            List<Lease> leases =
                    claimed.deliveries().stream().map(Delivery::lease).toList();
            claimed.deliveries().forEach(delivery -> run.add(delivery.id()));
            if (last && leases.isEmpty() && claimed.nextDue() == null) {
                return run;
            }
            carried = leases.subList(0, leases.size() / 2);
            List<Lease> own = leases.subList(leases.size() / 2, leases.size());
            if (!own.isEmpty()) {
                assertThat(store.acknowledge(shard, own)).containsOnly(Settlement.APPLIED);
            }
        }
    }

    private static long repetitions() {
        return CLUSTER.masters().stream()
                .mapToLong(master -> repetitions(master.connect()))
                .sum();
    }

    private static long repetitions(RawRedis redis) {
        try (redis) {
            return Stream.ofNullable(redis.info("errorstats").get("errorstat_TRYAGAIN"))
                    .mapToLong(count -> Long.parseLong(count.replace("count=", "")))
                    .sum();
        }
    }

    private static RedisQueueStore store(SlotRetry slots) {
        LettuceConnectionFactory application = new LettuceConnectionFactory(
                new RedisClusterConfiguration(List.of(CLUSTER.addresses().split(",", -1))));
        LettuceConnectionFactory own = DedicatedConnections.copyOf(application, COMMAND_TIMEOUT);
        own.start();
        OPENED.add(own::destroy);
        RedisQueueStore store = new RedisQueueStore(own, "dq:", UnaryOperator.identity(), slots);
        OPENED.add(store);
        await().ignoreExceptions().untilAsserted(store::prepare);
        return store;
    }
}
