package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.OperatorProgram.TOPIC;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.DeadLetterRef;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.MessagePage;
import io.easykit.delayqueue.admin.MessageQuery;
import io.easykit.delayqueue.admin.MessageSummary;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.StoredJob;
import io.easykit.test.ChildJvm;
import io.easykit.test.RawRedis;
import io.easykit.test.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Operators who work on dead letters of the same topic while it changes, on a real Redis. */
class OperatorsIntegrationTests {

    private static final Duration JVM_START = ChildJvm.START;

    private final RedisServer server = RedisServer.start();
    private final RedisQueue queue = queue();
    private final RawRedis redis = server.connect();
    private final DelayQueueAdmin admin = queue.engine.admin();
    private final ExecutorService threads = Executors.newFixedThreadPool(2);

    private RedisQueue queue() {
        return new RedisQueue(server.host(), server.port(), RedisQueue.PATIENT, builder -> builder.shards(topic -> 3));
    }

    @AfterEach
    void close() {
        threads.shutdownNow();
        queue.close();
        redis.close();
        server.close();
    }

    /** A listener whose messages all die. */
    private ListenerContainer failing() {
        return failing(queue);
    }

    private static ListenerContainer failing(RedisQueue queue) {
        ListenerEndpoint endpoint = ListenerEndpoint.builder("close", TOPIC, String.class)
                .retry(RetryPolicy.fixed(1, Duration.ZERO))
                .concurrency(16)
                .build();
        ListenerContainer container = queue.engine.container(endpoint, (DelayMessage<String> message) -> {
            throw new IllegalStateException("order " + message.id());
        });
        container.start();
        return container;
    }

    private void send(List<String> ids) {
        queue.engine
                .template()
                .sendAll(ids.stream()
                        .map(id -> OutgoingMessage.of(TOPIC, "x").id(id))
                        .toList());
    }

    private static List<String> ids(String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> name + i).toList();
    }

    private TopicStats stats() {
        return admin.stats(TOPIC);
    }

    private void awaitDead(int count) {
        await().atMost(Duration.ofSeconds(60)).until(() -> stats().dead() == count);
    }

    private List<String> walk(MessageQuery query) {
        List<String> seen = new ArrayList<>();
        String cursor = null;
        do {
            MessagePage page = admin.messages(TOPIC, cursor == null ? query : query.after(cursor));
            page.messages().stream()
                    .map(MessageSummary::id)
                    .filter(id -> id.startsWith("stays"))
                    .forEach(seen::add);
            cursor = page.next();
        } while (cursor != null);
        return seen;
    }

    /** Sends, sends back and purges, and leaves those alone that stay. */
    private void change(int round) {
        send(ids("goes-" + round + "-", 40));
        List<DeadLetterRef> dead =
                admin.messages(TOPIC, MessageQuery.dead().size(100).newestFirst()).messages().stream()
                        .filter(message -> message.id().startsWith("goes"))
                        .map(MessageSummary::death)
                        .toList();
        int half = dead.size() / 2;
        if (half > 0) {
            admin.redrive(TOPIC, dead.subList(0, half));
            admin.purge(TOPIC, dead.subList(half, dead.size()));
        }
    }

    private void pagesShowEachMessageThatStays(int stay, int events) throws Exception {
        ListenerContainer container = failing();
        List<String> stays = ids("stays-", stay);
        for (int i = 0; i < stay; i += 20) {
            send(stays.subList(i, Math.min(i + 20, stay)));
            send(ids("goes-first-" + i + "-", 20));
        }
        awaitDead(2 * stay);
        AtomicBoolean ends = new AtomicBoolean();
        Future<?> load = threads.submit(() -> {
            for (int round = 0; !ends.get() && !Thread.interrupted(); round++) {
                change(round);
            }
        });

        TopicStats now = stats();
        int walks = 0;
        while (walks < 6
                || now.counters().dead() < events
                || now.counters().redriven() < events / 4
                || now.counters().purged() < events / 4) {
            MessageQuery query = MessageQuery.dead().size(walks % 3 == 0 ? 7 : 50);
            assertThat(walk(walks % 2 == 0 ? query : query.newestFirst()))
                    .as("walk %s", walks)
                    .containsExactlyInAnyOrderElementsOf(stays);
            assertThat(load.isDone()).isFalse();
            walks++;
            now = stats();
        }
        ends.set(true);
        load.get(30, TimeUnit.SECONDS);
        container.stop();
        assertThat(stats().imbalance()).isZero();
    }

    @Test
    void pagesShowEachMessageThatStaysOnceWhileOthersDieAndAreSentBackAndPurged() throws Exception {
        pagesShowEachMessageThatStays(200, 2_000);
    }

    @Test
    @Tag("heavy")
    void pagesShowEachMessageThatStaysOnceForLong() throws Exception {
        pagesShowEachMessageThatStays(2_000, 100_000);
    }

    private void eachIsSentBackOnce(int pages) throws Exception {
        ListenerContainer container = failing();
        for (int i = 0; i < pages; i++) {
            send(ids("m" + i + "-", 100));
        }
        awaitDead(100 * pages);
        container.stop();
        try (RedisQueue second = queue()) {
            CyclicBarrier both = new CyclicBarrier(2);
            for (int i = 0; i < pages; i++) {
                List<DeadLetterRef> page = admin
                        .messages(TOPIC, MessageQuery.dead().size(100))
                        .messages()
                        .stream()
                        .map(MessageSummary::death)
                        .toList();
                assertThat(page).hasSize(100);
                List<Callable<List<Boolean>>> operators = List.of(
                        () -> {
                            both.await(60, TimeUnit.SECONDS);
                            return admin.redrive(TOPIC, page);
                        },
                        () -> {
                            both.await(60, TimeUnit.SECONDS);
                            return second.engine.admin().redrive(TOPIC, page);
                        });
                List<Future<List<Boolean>>> replies = threads.invokeAll(operators);
                for (int letter = 0; letter < page.size(); letter++) {
                    boolean first = replies.get(0).get().get(letter);
                    assertThat(replies.get(1).get().get(letter)).isNotEqualTo(first);
                }
            }
        }
        assertThat(stats().dead()).isZero();
        assertThat(stats().waiting()).isEqualTo(100L * pages);
        assertThat(stats().counters().redriven()).isEqualTo(100L * pages);
        assertThat(stats().imbalance()).isZero();
    }

    @Test
    void twoOperatorsWhoSendTheSamePageBackSendEachOnce() throws Exception {
        eachIsSentBackOnce(5);
    }

    @Test
    @Tag("heavy")
    void twoOperatorsWhoSendManyPagesBackSendEachOnce() throws Exception {
        eachIsSentBackOnce(500);
    }

    private ChildJvm launch(Duration heartbeats, String role, int perSecond) {
        return ChildJvm.start(
                OperatorProgram.class,
                server.host(),
                String.valueOf(server.port()),
                String.valueOf(heartbeats.toMillis()),
                role,
                String.valueOf(perSecond));
    }

    private static String after(ChildJvm child, String word) {
        return child.awaitLine(line -> line.startsWith(word), JVM_START).substring(word.length());
    }

    private StoredJob job(String id) {
        return queue.store.jobs().find(id).orElseThrow();
    }

    private long done(String id) {
        return Long.parseLong(job(id).fields().getOrDefault("done", "0"));
    }

    private List<String> nodes() {
        return queue.engine.fleet().nodes().stream().map(NodeInfo::id).toList();
    }

    private List<String> runs() {
        return ((List<?>) Objects.requireNonNull(redis.command("LRANGE", OperatorProgram.RUNS, "0", "-1")))
                .stream().map(id -> new String((byte[]) id, UTF_8)).toList();
    }

    /**
     * Kills the process that sends dead letters back. The test does not read the job through its own node, which would
     * continue it.
     *
     * @param expiry run instead of waiting until the lock of the job expires
     */
    private void anotherContinues(
            int count, int perSecond, Duration heartbeats, String role, @Nullable Runnable expiry) {
        // In an engine that is closed afterwards: a node that has had a listener would take over jobs.
        try (RedisQueue consumer = queue()) {
            ListenerContainer container = failing(consumer);
            for (int i = 0; i < count; i += 100) {
                send(ids("m" + i + "-", 100));
            }
            awaitDead(count);
            container.stop();
        }
        try (ChildJvm other = launch(heartbeats, role, 0)) {
            String survivor = after(other, "node ");
            await().atMost(JVM_START).until(() -> nodes().contains(survivor));
            String id;
            try (ChildJvm first = launch(heartbeats, OperatorProgram.STARTS, perSecond)) {
                id = after(first, "job ");
                await().atMost(JVM_START).until(() -> nodes().size() == 2);
                await().atMost(JVM_START).until(() -> done(id) >= count / 8);
                first.kill();
            }
            TopicStats left = stats();
            assertThat(left.counters().redriven() + left.dead()).isEqualTo(count);
            assertThat(left.dead()).isPositive();
            assertThat(job(id).node()).isNotEqualTo(survivor);

            await().atMost(heartbeats.multipliedBy(3).plusSeconds(20)).until(() -> nodes().equals(List.of(survivor)));
            if (expiry != null) {
                expiry.run();
            }
            await().atMost(Duration.ofMinutes(2)).until(() -> !job(id).isRunning());
            assertThat(job(id).state()).isEqualTo("done");
            assertThat(job(id).node()).isEqualTo(survivor);
            assertThat(done(id)).isEqualTo(count);
            await().atMost(Duration.ofSeconds(30)).until(() -> runs().size() >= count);
            assertThat(runs()).hasSize(count).doesNotHaveDuplicates();
            assertThat(stats().dead()).isZero();
            assertThat(stats().counters().redriven()).isEqualTo(count);
            assertThat(stats().imbalance()).isZero();
        }
    }

    /** The lock of the killed one is deleted instead of waiting for its 15 seconds. */
    @Test
    void anotherProcessContinuesTheJobOfAKilledOneAndTheFleetForgetsIt() {
        anotherContinues(400, 60, Duration.ofSeconds(1), OperatorProgram.ASKS, () -> {
            redis.command("DEL", "dq:{console}:lock:" + TOPIC);
            redis.command("SET", OperatorProgram.ASK, "1");
        });
    }

    @Test
    @Tag("heavy")
    void anotherProcessContinuesTheJobOfAKilledOneByItself() {
        anotherContinues(5_000, 100, Duration.ofSeconds(10), OperatorProgram.LISTENS, null);
    }
}
