package io.easykit.delayqueue.redis;

import static io.easykit.delayqueue.redis.TestShard.KEY;
import static io.easykit.delayqueue.redis.TestShard.claim;
import static io.easykit.delayqueue.redis.TestShard.in;
import static io.easykit.delayqueue.redis.TestShard.leases;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.store.Browse;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.Delivery;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.NodeReport;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.Settlement;
import io.easykit.delayqueue.store.Subscription;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.redis.LuaScript;
import io.easykit.test.RawRedis;
import io.easykit.test.RawRedis.RedisError;
import io.easykit.test.RedisServer;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The store on servers that fail, fill up, forget scripts, and start again; with Redis's own clock. */
class RedisQueueStoreIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final RedisServer server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
    private final LettuceConnectionFactory connections = connections(server, TIMEOUT);
    private final RedisQueueStore store = new RedisQueueStore(connections);

    private static LettuceConnectionFactory connections(RedisServer server, Duration timeout) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(server.host(), server.port()),
                LettuceClientConfiguration.builder()
                        .commandTimeout(timeout)
                        .clientOptions(ClientOptions.builder()
                                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                                .build())
                        .build());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    @AfterEach
    void close() {
        store.close();
        connections.destroy();
        server.close();
    }

    @Test
    void goesOnWhenRedisHasForgottenTheScripts() {
        store.prepare();
        try (RawRedis redis = server.connect()) {
            redis.command("SCRIPT", "FLUSH");

            assertThat(store.send(KEY, List.of(in("a", 0, "one")))).containsExactly(SendOutcome.STORED);
            assertThat(store.find(KEY, "a")).isPresent();
            assertThat(redis.info("commandstats").get("cmdstat_eval")).contains("calls=2,");
        }
    }

    @Test
    void loadsAllScriptsAhead() {
        store.prepare();
        try (RawRedis redis = server.connect()) {
            for (QueueScript name : QueueScript.values()) {
                String sha = name.load(UnaryOperator.identity()).sha();
                assertThat(redis.command("SCRIPT", "EXISTS", sha))
                        .as(name.file())
                        .isEqualTo(List.of(1L));
            }
        }
    }

    @Test
    void changesNothingByAnAcknowledgementFromBeforeARedrive() {
        store.send(KEY, List.of(in("a", 0, "one")));
        Lease old = awaitDelivery(1).deliveries().get(0).lease();
        Instant diedAt = die("a", old);

        assertThat(store.redrive(KEY, List.of(new DeadLetterRef("a", diedAt)))).containsExactly(true);
        assertThat(store.acknowledge(KEY, List.of(old))).containsExactly(Settlement.STALE);
        assertThat(store.find(KEY, "a").orElseThrow().state()).isEqualTo(State.WAITING);

        Lease current = awaitDelivery(2).deliveries().get(0).lease();
        assertThat(store.acknowledge(KEY, List.of(old))).containsExactly(Settlement.STALE);
        assertThat(store.find(KEY, "a").orElseThrow().state()).isEqualTo(State.IN_FLIGHT);
        assertThat(store.acknowledge(KEY, List.of(current))).containsExactly(Settlement.APPLIED);
        assertThat(store.stats(KEY).imbalance()).isZero();
    }

    @Test
    void givesOneMessageForTwoRedrivesAtOnce() {
        List<DeadLetterRef> deaths = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            store.send(KEY, List.of(in("m" + i, 0, "one")));
            deaths.add(new DeadLetterRef(
                    "m" + i,
                    die("m" + i, awaitDelivery(i + 1).deliveries().get(0).lease())));
        }
        LettuceConnectionFactory others = connections(server, TIMEOUT);
        RedisQueueStore other = new RedisQueueStore(others);
        CyclicBarrier atOnce = new CyclicBarrier(2);

        CompletableFuture<List<Boolean>> one = CompletableFuture.supplyAsync(() -> redriveEach(store, deaths, atOnce));
        CompletableFuture<List<Boolean>> two = CompletableFuture.supplyAsync(() -> redriveEach(other, deaths, atOnce));

        assertThat(one.join()).hasSize(20);
        for (int i = 0; i < 20; i++) {
            assertThat(one.join().get(i)).as("m%s", i).isNotEqualTo(two.join().get(i));
        }
        ShardStats stats = store.stats(KEY);
        assertThat(stats.waiting()).isEqualTo(20);
        assertThat(stats.counters().redriven()).isEqualTo(20);
        assertThat(stats.imbalance()).isZero();
        other.close();
        others.destroy();
    }

    private static List<Boolean> redriveEach(RedisQueueStore store, List<DeadLetterRef> deaths, CyclicBarrier atOnce) {
        List<Boolean> redriven = new ArrayList<>();
        for (DeadLetterRef death : deaths) {
            try {
                atOnce.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
            redriven.addAll(store.redrive(KEY, List.of(death)));
        }
        return redriven;
    }

    private Instant die(String id, Lease lease) {
        assertThat(store.fail(KEY, List.of(new Failure(lease, null, "no")))).containsExactly(Settlement.APPLIED);
        return store.find(KEY, id).orElseThrow().at();
    }

    @Test
    void losesNothingInARestartAndAnswersTheClaimAgain() {
        store.send(KEY, List.of(in("a", 0, "one")));
        Claimed claimed = awaitDelivery(1);

        server.restart();

        await().ignoreExceptions().until(() -> store.stats(KEY).inFlight() == 1);
        assertThat(store.claim(KEY, claim("o", 1, 10, 30_000)).deliveries()).isEqualTo(claimed.deliveries());
        assertThat(store.acknowledge(KEY, leasesOf(claimed))).containsExactly(Settlement.APPLIED);
    }

    @Test
    void saysWithinTheTimeoutThatRedisIsGoneOrHangs() {
        store.prepare();
        server.pause();
        assertUnavailableInTime("did not answer send.lua on t:0, so its outcome is unknown");
        server.resume();
        await().ignoreExceptions().until(() -> store.stats(KEY).waiting() >= 0);
        server.kill();
        assertUnavailableInTime("send.lua on t:0");
    }

    private void assertUnavailableInTime(String text) {
        long start = System.nanoTime();
        assertThatThrownBy(() -> store.send(KEY, List.of(in("a", 0, "one"))))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining(text);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(TIMEOUT.multipliedBy(8));
    }

    @Test
    void isUnavailableWhileItsServerIsAReplica() {
        store.send(KEY, List.of(in("a", 0, "one")));
        try (RedisServer newMaster = RedisServer.start()) {
            server.replicaOf(newMaster);

            assertThatThrownBy(() -> store.send(KEY, List.of(in("b", 0, "two"))))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(": READONLY ");
            assertThatThrownBy(() -> store.declare("another", 2))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(": READONLY ");
        }
    }

    @Test
    void isUnavailableToAThreadThatIsInterruptedAndLeavesItInterrupted() {
        store.send(KEY, List.of(in("a", 0, "one")));
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> store.send(KEY, List.of(in("b", 0, "two"), in("c", 0, "three"))))
                .isInstanceOf(StoreUnavailableException.class);

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void waitsForTheReplyToMessagesOfSeveralThreadsAlthoughThisOneIsInterrupted() throws Exception {
        LettuceConnectionFactory patient = connections(server, Duration.ofSeconds(30));
        RedisQueueStore own = new RedisQueueStore(patient);
        own.prepare();
        server.pause();
        AtomicBoolean isStillInterrupted = new AtomicBoolean();
        FutureTask<List<SendOutcome>> sending = new FutureTask<>(() -> {
            List<SendOutcome> outcomes = own.send(KEY, List.of(in("a", 0, "one"), in("b", 0, "two")), true);
            isStillInterrupted.set(Thread.currentThread().isInterrupted());
            return outcomes;
        });
        Thread thread = new Thread(sending);
        thread.start();
        await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        thread.interrupt();
        await().until(() -> !thread.isInterrupted() || sending.isDone());
        server.resume();

        assertThat(sending.get(30, TimeUnit.SECONDS)).containsExactly(SendOutcome.STORED, SendOutcome.STORED);
        assertThat(isStillInterrupted).isTrue();
        own.close();
        patient.destroy();
    }

    @Test
    void namesWhatRedisRefuses() {
        try (RawRedis redis = server.connect()) {
            redis.command("SET", "dq:{t:0}:waiting", "not a sorted set");

            assertThatThrownBy(() -> store.send(KEY, List.of(in("a", 0, "one"))))
                    .isInstanceOf(StoreRefusedException.class)
                    .hasMessageContaining("WRONGTYPE");
            assertThat(redis.command("KEYS", "*:m:*")).isEqualTo(List.of());
        }
    }

    @Test
    void drainsAFullRedisAndRefusesOnlyWhatGrows() {
        store.send(
                KEY, IntStream.range(0, 8).mapToObj(i -> in("m" + i, 0, "body")).toList());
        store.send(KEY, List.of(in("later", 3_600_000, "body")));
        Claimed claimed = awaitDelivery(1);
        List<Lease> leases = leasesOf(claimed);
        assertThat(leases).hasSize(8);
        try (RawRedis redis = server.connect()) {
            redis.command("CONFIG", "SET", "maxmemory", "1");

            assertThatThrownBy(() -> store.send(KEY, List.of(in("new", 0, "x"))))
                    .isInstanceOf(StoreFullException.class)
                    .hasMessageContaining("has stored nothing");
            assertThatThrownBy(() -> store.reschedule(
                            KEY, List.of(new Reschedule(new Target("later", null), DueTime.after(Duration.ZERO)))))
                    .isInstanceOf(StoreFullException.class);
            assertThat(store.find(KEY, "new")).isEmpty();
            assertThat(store.browse(KEY, new Browse(State.WAITING, false, null, 10, 512))
                            .total())
                    .isEqualTo(1);

            assertThat(store.extend(KEY, leases.subList(0, 8), Duration.ofMinutes(1)))
                    .containsOnly(Settlement.APPLIED);
            assertThat(store.claim(KEY, claim("o", 1, 10, 90_000)).deliveries()).hasSize(8);
            assertThat(store.acknowledge(KEY, leases.subList(0, 2))).containsOnly(Settlement.APPLIED);
            assertThat(store.fail(
                            KEY,
                            List.of(
                                    new Failure(leases.get(2), Duration.ZERO, "again"),
                                    new Failure(leases.get(3), null, "dead"))))
                    .containsOnly(Settlement.APPLIED);
            assertThat(store.release(KEY, leases.subList(4, 7))).containsOnly(Settlement.APPLIED);
            assertThat(store.cancel(KEY, List.of(new Target("later", null)))).containsExactly(ChangeOutcome.APPLIED);
            assertThat(store.pause(KEY, "ops")).isTrue();
            assertThat(store.resume(KEY)).isTrue();
            assertThat(store.declare("t", 1)).isEqualTo(1);
            NodeReport report = new NodeReport("shop", "host", Map.of(), Duration.ZERO, List.of());
            assertThat(store.fleet().beat("node", report, Duration.ofMinutes(1)).first())
                    .isTrue();
            assertThat(store.fleet().requestPause("node", "close", true, "ops")).isTrue();
            store.fleet().addTopics(Map.of("t", 1));
            Instant died = store.browse(KEY, new Browse(State.DEAD, false, null, 1, 512))
                    .entries()
                    .get(0)
                    .at();
            assertThat(store.redrive(
                            KEY, List.of(new DeadLetterRef(leases.get(3).id(), died))))
                    .containsExactly(true);

            awaitDelivery(2, 1);
            await().until(() -> !store.reap(KEY, 10, 1, Duration.ZERO).lost().isEmpty());
            assertThat(store.purge(KEY, Duration.ZERO, 10)).isPositive();
            drain();
            ShardStats stats = store.stats(KEY);
            assertThat(stats.imbalance()).isZero();
            assertThat(stats.waiting() + stats.dead()).isZero();
        }
    }

    /** Claims and acknowledges until no message is waiting. */
    private void drain() {
        for (int request = 10; store.stats(KEY).waiting() > 0; request++) {
            List<Delivery> deliveries =
                    store.claim(KEY, claim("o", request, 10, 60_000)).deliveries();
            store.acknowledge(KEY, deliveries.stream().map(Delivery::lease).toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    void writesNothingWhenArgumentsAreWrong(QueueScript name) {
        TestShard seeded = new TestShard();
        seeded.seed(
                """
                ZADD waiting 900 a
                ZADD inflight 990 b
                ZADD dead 800 c
                MSET m:a one
                MSET m:b two
                MSET m:c three
                HSET state b 5:0:0:0:800:o c 4:0:0:0:700:o""");
        String before = seeded.state();
        LuaScript script = name.load(TestShard::withTestClock);
        List<List<String>> wrong = new ArrayList<>(List.of(
                List.of("a", "b", "c", "d", "e", "f", "g"),
                List.of("-1", "nan", "1e9", "0x10", "5"),
                List.of("ids", "x", "y", "z", "a")));
        wrong.add(Collections.nCopies(404, "1"));
        wrong.add(Collections.nCopies(405, "1"));

        for (List<String> arguments : wrong) {
            List<String> command =
                    new ArrayList<>(List.of("EVAL", script.text(), "2", "dq:{t:0}:", "dq:{t:0}:settings"));
            command.addAll(arguments);
            assertThatThrownBy(() -> seeded.redis().command(command.toArray(String[]::new)))
                    .as(name + " " + arguments)
                    .isInstanceOf(RedisError.class)
                    .hasMessageContaining("delay-queue: ");
            assertThat(seeded.state()).isEqualTo(before);
        }
        seeded.close();
    }

    @Test
    void refusesABatchThatIsTooBigBeforeItIsSent() {
        List<NewMessage> tooMany = IntStream.rangeClosed(0, QueueStore.MAX_BATCH)
                .mapToObj(i -> in("m" + i, 0, "x"))
                .toList();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.send(KEY, tooMany))
                .withMessageContaining("split it");
        assertThat(store.send(KEY, tooMany.subList(1, tooMany.size()))).hasSize(QueueStore.MAX_BATCH);
        await().untilAsserted(() -> assertThat(store.claim(KEY, claim("o", 1, QueueStore.MAX_BATCH, 1000))
                        .deliveries())
                .hasSize(QueueStore.MAX_BATCH));
    }

    @Test
    void acceptsEmptyBatches() {
        assertThat(store.send(KEY, List.of())).isEmpty();
        assertThat(store.acknowledge(KEY, List.of())).isEmpty();
        assertThat(store.fail(KEY, List.of())).isEmpty();
        assertThat(store.release(KEY, List.of())).isEmpty();
        assertThat(store.extend(KEY, leases(), Duration.ofSeconds(1))).isEmpty();
        assertThat(store.cancel(KEY, List.of())).isEmpty();
        assertThat(store.reschedule(KEY, List.of())).isEmpty();
        assertThat(store.redrive(KEY, List.of())).isEmpty();
        assertThat(store.purge(KEY, List.of())).isEmpty();
    }

    @Test
    void isNeverEarlyByRedissOwnClock() {
        int messages = 500;
        for (int i = 0; i < messages; i++) {
            store.send(KEY, List.of(in("m" + i, i % 40, "x")));
        }
        List<Delivery> all = new ArrayList<>();
        for (int request = 1; all.size() < messages; request++) {
            long beforeMicros = redisMicros();
            Claimed claimed = store.claim(KEY, claim("o", request, 50, 30_000));
            long afterMicros = redisMicros();
            assertThat(claimed.now().toEpochMilli()).isBetween(beforeMicros / 1000, afterMicros / 1000);
            assertThat(claimed.deliveries())
                    .allSatisfy(delivery -> assertThat(delivery.due()).isBeforeOrEqualTo(claimed.now()));
            all.addAll(claimed.deliveries());
        }
    }

    private long redisMicros() {
        try (RawRedis redis = server.connect()) {
            List<?> time = (List<?>) Objects.requireNonNull(redis.command("TIME"));
            return Long.parseLong(RawRedis.text((byte[]) time.get(0))) * 1_000_000
                    + Long.parseLong(RawRedis.text((byte[]) time.get(1)));
        }
    }

    @Test
    void wakesUpForEarlierArrivalsUntilTheSubscriptionEnds() {
        Queue<Instant> wakeups = new ConcurrentLinkedQueue<>();
        Subscription subscription = store.subscribe(List.of(KEY), (shard, due) -> wakeups.add(due));
        awaitBegin(wakeups);
        store.send(KEY, List.of(in("later", 60_000, "x")));
        store.send(KEY, List.of(in("much later", 90_000, "x")));
        store.send(KEY, List.of(in("earlier", 30_000, "x")));
        await().until(() -> wakeups.size() >= 2);
        assertThat(List.copyOf(wakeups)).hasSize(2).isSortedAccordingTo(Comparator.reverseOrder());

        subscription.close();
        Queue<Instant> others = new ConcurrentLinkedQueue<>();
        store.subscribe(List.of(KEY), (shard, due) -> others.add(due));
        awaitBegin(others);
        store.send(KEY, List.of(in("first", 10_000, "x")));
        await().until(() -> others.size() == 1);
        assertThat(wakeups).hasSize(2);
    }

    @Test
    void wakesUpAgainAfterARestart() {
        Queue<Instant> wakeups = new ConcurrentLinkedQueue<>();
        store.subscribe(List.of(KEY), (shard, due) -> wakeups.add(due));
        awaitBegin(wakeups);

        server.restart();

        awaitWakeup(wakeups);
    }

    @Test
    void makesTheSubscriptionWhenRedisIsBack() {
        Queue<Instant> wakeups = new ConcurrentLinkedQueue<>();
        server.kill();
        store.subscribe(List.of(KEY), (shard, due) -> wakeups.add(due));

        server.restart();

        awaitBegin(wakeups);
        awaitWakeup(wakeups);
    }

    private static void awaitBegin(Queue<Instant> wakeups) {
        await().until(() -> Instant.EPOCH.equals(wakeups.poll()));
    }

    /** Sends until a wakeup arrives: before the subscription is back, wakeups are lost, which is allowed. */
    private void awaitWakeup(Queue<Instant> wakeups) {
        AtomicInteger sent = new AtomicInteger();
        await().ignoreExceptions().until(() -> {
            int n = sent.incrementAndGet();
            store.send(KEY, List.of(in("m" + n, 3_000_000 - 10_000L * n, "x")));
            return !wakeups.isEmpty();
        });
    }

    @Test
    void storesAlsoWhereWakeupsMayNotBePublished() {
        try (RawRedis redis = server.connect()) {
            redis.command("ACL", "SETUSER", "default", "-publish");

            assertThat(store.send(KEY, List.of(in("a", 0, "one")))).containsExactly(SendOutcome.STORED);
            assertThat(store.stats(KEY).imbalance()).isZero();
        }
    }

    private Claimed awaitDelivery(int request) {
        return awaitDelivery(request, 30_000);
    }

    private Claimed awaitDelivery(int request, long lease) {
        return await().until(() -> store.claim(KEY, claim("o", request, 10, lease)), claimed -> !claimed.deliveries()
                .isEmpty());
    }

    private static List<Lease> leasesOf(Claimed claimed) {
        return claimed.deliveries().stream().map(Delivery::lease).toList();
    }
}
