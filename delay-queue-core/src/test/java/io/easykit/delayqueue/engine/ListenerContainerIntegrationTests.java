package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.jackson.JacksonPayloadCodec;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import io.easykit.test.TcpProxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ListenerContainerIntegrationTests {

    private static final String TOPIC = "orders";

    private static RedisServer server;
    private static TcpProxy line;
    private static RedisQueue queue;

    private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();
    private final List<ListenerContainer> containers = new ArrayList<>();

    @BeforeAll
    static void open() {
        server = RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
        line = TcpProxy.to(server);
        queue = new RedisQueue(line.host(), line.port(), RedisQueue.COMMAND_TIMEOUT);
    }

    @AfterAll
    static void close() {
        queue.close();
        line.close();
        server.close();
    }

    @AfterEach
    void empty() {
        containers.forEach(ListenerContainer::stop);
        server.flush();
    }

    private static ListenerEndpoint.Builder listener() {
        return ListenerEndpoint.builder("close", TOPIC, String.class);
    }

    private ListenerContainer start(ListenerEndpoint.Builder endpoint, MessageHandler<String> handler) {
        ListenerContainer container = queue.engine.container(endpoint.build(), (DelayMessage<String> message) -> {
            runs.computeIfAbsent(message.id(), id -> new AtomicInteger()).incrementAndGet();
            handler.handle(message);
        });
        containers.add(container);
        container.start();
        return container;
    }

    private static void send(int count, Duration delay) {
        queue.engine
                .template()
                .sendAll(IntStream.range(0, count)
                        .mapToObj(
                                i -> OutgoingMessage.of(TOPIC, "x").id("m" + i).after(delay))
                        .toList());
    }

    /** However slow the machine is. */
    private static void awaitDrained() {
        awaitDrained(Duration.ofMinutes(1));
    }

    private static void awaitDrained(Duration timeout) {
        await().atMost(timeout).ignoreExceptions().until(() -> queue.isDrained(TOPIC));
    }

    private void assertEachRanOnce(int count) {
        assertThat(runs).hasSize(count).allSatisfy((id, times) -> assertThat(times)
                .hasValue(1));
        assertThat(queue.stats(TOPIC).counters().acknowledged()).isEqualTo(count);
        assertThat(queue.stats(TOPIC).dead()).isZero();
    }

    /** Work that takes its time, and ends when it is interrupted. */
    private static void work(Duration duration) throws InterruptedException {
        boolean never = new CountDownLatch(1).await(duration.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(never).isFalse();
    }

    @Test
    void runsAThousandDueAtOnceOnceEach() {
        send(1000, Duration.ofMillis(200));
        start(listener().concurrency(50).lease(Duration.ofSeconds(5)), message -> work(Duration.ofMillis(100)));
        awaitDrained();

        assertEachRanOnce(1000);
    }

    @Test
    void runsAThousandDueAtOnceOnceEachWithOneWorkerAndTheDefaultLease() {
        runAThousandWithOneWorker(Duration.ofMillis(1));
    }

    @Test
    @Tag("heavy")
    void runsAThousandDueAtOnceOnceEachWithOneWorkerOfAHundredMilliseconds() {
        runAThousandWithOneWorker(Duration.ofMillis(100));
    }

    private void runAThousandWithOneWorker(Duration each) {
        send(1000, Duration.ofMillis(200));
        start(listener(), message -> work(each));
        awaitDrained(each.multipliedBy(1000).plusMinutes(1));

        assertEachRanOnce(1000);
        assertThat(queue.stats(TOPIC).counters().leaseExpirations()).isZero();
    }

    @Test
    void runsAHandlerOnceThatTakesLongerThanItsLease() {
        start(listener().lease(Duration.ofSeconds(4)), message -> work(Duration.ofSeconds(9)));
        send(1, Duration.ZERO);
        await().until(() -> !runs.isEmpty());
        awaitDrained();

        assertEachRanOnce(1);
    }

    @Test
    void runsNothingTwiceThatFinishesDuringAnOutageLongerThanTheLease() {
        runThroughAnOutage(Duration.ofSeconds(6), Duration.ofSeconds(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 20, 60})
    @Tag("heavy")
    void runsNothingTwiceAfterOutagesOfAnyLength(int seconds) {
        runThroughAnOutage(
                Duration.ofSeconds(seconds), Duration.ofSeconds(seconds).dividedBy(3));
        runs.clear();
        server.flush();
        runThroughAnOutage(Duration.ofSeconds(seconds), Duration.ofSeconds(seconds + 2));
    }

    /** Four finish after its begin; four others work on until it is over, if their leases last that long. */
    private void runThroughAnOutage(Duration outage, Duration lease) {
        boolean outlasts = lease.compareTo(outage) > 0;
        CountDownLatch begun = new CountDownLatch(outlasts ? 8 : 4);
        CountDownLatch away = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        AtomicInteger interrupted = new AtomicInteger();
        ListenerContainer container =
                start(listener().concurrency(8).maxLeaseExpirations(1).lease(lease), message -> {
                    begun.countDown();
                    try {
                        if (message.id().compareTo("m4") < 0) {
                            away.await();
                        } else {
                            over.await();
                        }
                    } catch (InterruptedException e) {
                        interrupted.incrementAndGet();
                        throw e;
                    }
                });
        send(outlasts ? 8 : 4, Duration.ZERO);
        await().until(() -> begun.getCount() == 0);
        line.freeze();
        away.countDown();
        Instant end = Instant.now().plus(outage);
        await().atMost(outage.plusSeconds(5)).until(() -> Instant.now().isAfter(end));
        line.heal();
        awaitEnd(over, container);

        assertThat(interrupted).hasValue(0);
        assertEachRanOnce(outlasts ? 8 : 4);
        assertThat(queue.stats(TOPIC).counters().leaseExpirations()).isZero();
    }

    private static void awaitEnd(CountDownLatch over, ListenerContainer container) {
        over.countDown();
        awaitDrained();
        container.stop();
    }

    @Test
    void startsNothingEarlyInTenThousandRandomDelays() {
        int count = 10_000;
        Map<String, Instant> due = new ConcurrentHashMap<>();
        List<Duration> late = new CopyOnWriteArrayList<>();
        start(listener().concurrency(20), message -> late.add(Duration.between(due.get(message.id()), Instant.now())));
        Random random = new Random();
        List<OutgoingMessage> messages = IntStream.range(0, count)
                .mapToObj(i -> {
                    Instant at = Instant.now().plusMillis(random.nextInt(3000)).plusNanos(random.nextInt(1_000_000));
                    due.put("m" + i, at);
                    return OutgoingMessage.of(TOPIC, "x").id("m" + i).at(at);
                })
                .toList();
        queue.engine.template().sendAll(messages);
        awaitDrained();

        assertEachRanOnce(count);
        assertThat(late).noneMatch(Duration::isNegative);
    }

    @Test
    void buriesWithItsReasonWhatSomebodyDeletedTheBodyOf() {
        send(2, Duration.ZERO);
        try (RawRedis redis = server.connect()) {
            redis.command("DEL", "dq:{" + TOPIC + ":0}:m:m0");
        }
        start(listener(), message -> {});
        awaitDrained();

        StoredMessage dead = queue.store.find(new ShardKey(TOPIC, 0), "m0").orElseThrow();
        assertThat(dead.state()).isEqualTo(MessageInfo.State.DEAD);
        assertThat(dead.lastError()).extracting(ErrorNote::text).isEqualTo(ErrorNote.BODY_MISSING);
        assertThat(runs).containsOnlyKeys("m1");
    }

    @Test
    void drainsTwentyThousandDueAtOneInstant() {
        int count = 20_000;
        send(count, Duration.ZERO);
        start(listener().concurrency(8), message -> {});
        awaitDrained();

        assertEachRanOnce(count);
    }

    @Test
    void goesOnByItselfAfterScriptFlushesAndARestartUnderLoad() {
        start(listener().concurrency(8).lease(Duration.ofSeconds(2)), message -> work(Duration.ofMillis(5)));
        send(2000, Duration.ofMillis(300));
        await().until(() -> runs.size() > 200);
        try (RawRedis redis = server.connect()) {
            redis.command("SCRIPT", "FLUSH");
        }
        await().until(() -> runs.size() > 500);
        server.restart();
        awaitDrained();

        assertThat(runs).hasSize(2000);
        assertThat(queue.stats(TOPIC).counters().acknowledged()).isEqualTo(2000);
        assertThat(queue.stats(TOPIC).imbalance()).isZero();
    }

    @Test
    void deliversWithoutWakeupsWhereTheUserMayNotSubscribe() {
        try (RedisServer guarded = RedisServer.start();
                RawRedis redis = guarded.connect()) {
            redis.command("ACL", "SETUSER", "default", "resetchannels");
            try (RedisQueue own = new RedisQueue(guarded.host(), guarded.port())) {
                ListenerContainer container =
                        own.engine.container(listener().build(), (DelayMessage<String> message) -> {});
                container.start();
                own.engine.template().send(TOPIC, "x", Duration.ofMillis(100));

                await().atMost(Duration.ofSeconds(30))
                        .until(() -> own.stats(TOPIC).counters().acknowledged() == 1);
                container.stop();
            }
        }
    }

    @Test
    void losesNoLeaseWhenRepliesAreLost() {
        start(listener().concurrency(4).lease(Duration.ofSeconds(20)), message -> work(Duration.ofMillis(2)));
        send(1000, Duration.ofMillis(100));
        for (int i = 1; i <= 5; i++) {
            int some = i * 100;
            await().until(() -> runs.size() > some);
            line.dropNextReply();
        }
        awaitDrained();

        assertEachRanOnce(1000);
        assertThat(queue.stats(TOPIC).counters().leaseExpirations()).isZero();
    }

    @Test
    void handsEverythingBackWhenItStopsUnderLoad() {
        AtomicInteger interrupted = new AtomicInteger();
        ListenerContainer container = start(
                listener().concurrency(8).lease(Duration.ofMinutes(5)).stopTimeout(Duration.ofMillis(100)), message -> {
                    try {
                        work(Duration.ofMillis(message.id().endsWith("7") ? 60_000 : 5));
                    } catch (InterruptedException e) {
                        interrupted.incrementAndGet();
                        throw e;
                    }
                });
        send(100, Duration.ZERO);
        await().until(() ->
                runs.containsKey("m7") && queue.stats(TOPIC).counters().acknowledged() > 10);
        container.stop();

        assertThat(container.isRunning()).isFalse();
        ShardStats stats = queue.stats(TOPIC);
        assertThat(stats.inFlight()).isZero();
        assertThat(stats.imbalance()).isZero();
        assertThat(stats.counters().failed()).isZero();
        await().until(() -> interrupted.get() > 0);
        containers.clear();
        start(listener().concurrency(8), message -> {});
        awaitDrained();
        assertThat(queue.stats(TOPIC).counters().acknowledged()).isEqualTo(100);
    }

    @Test
    void stopsInTimeWhileRedisIsAway() {
        ListenerContainer container = start(listener().stopTimeout(Duration.ofMillis(100)), message -> {});
        send(1, Duration.ZERO);
        await().until(() -> runs.size() == 1);
        server.pause();
        try {
            long begin = System.nanoTime();
            container.stop();
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(8));
        } finally {
            server.resume();
        }
    }

    @Test
    void failsASendWithinTheCommandTimeoutWhenRedisDoesNotAnswer() {
        send(1, Duration.ofHours(1));
        server.pause();
        try {
            long begin = System.nanoTime();
            assertThatThrownBy(() -> queue.engine.template().send(TOPIC, "x", Duration.ZERO))
                    .isInstanceOf(StoreUnavailableException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isLessThan(RedisQueue.COMMAND_TIMEOUT.plusSeconds(10));
        } finally {
            server.resume();
        }
    }

    @Test
    void runsHandlersOnThreadsThatAreGiven() {
        ExecutorService workers = Executors.newFixedThreadPool(2, task -> new Thread(task, "mine"));
        try (RedisQueue own = new RedisQueue(server.host(), server.port())) {
            DelayQueueEngine engine = DelayQueueEngine.builder(own.store)
                    .codec(new JacksonPayloadCodec())
                    .workers(workers)
                    .build();
            List<String> names = new CopyOnWriteArrayList<>();
            ListenerContainer container = engine.container(
                    listener().build(),
                    (DelayMessage<String> message) ->
                            names.add(Thread.currentThread().getName()));
            containers.add(container);
            container.start();
            send(3, Duration.ZERO);
            await().until(() -> names.size() == 3);

            assertThat(names).containsOnly("mine");
            container.stop();
        } finally {
            workers.shutdownNow();
        }
    }

    @Test
    void asksAtMostTwiceASecondWhenIdle() {
        start(listener(), message -> {});
        send(1, Duration.ZERO);
        await().until(() -> runs.size() == 1);
        try (RawRedis redis = server.connect()) {
            redis.command("CONFIG", "RESETSTAT");
            long begin = System.nanoTime();
            await().atMost(Duration.ofSeconds(10)).until(() -> System.nanoTime() - begin > 3_000_000_000L);
            String calls = redis.info("commandstats").getOrDefault("cmdstat_evalsha", "calls=0,");
            double seconds = (System.nanoTime() - begin) / 1e9;

            assertThat(Integer.parseInt(calls.replaceAll("calls=(\\d+),.*", "$1")) / seconds)
                    .isLessThanOrEqualTo(2);
        }
    }
}
