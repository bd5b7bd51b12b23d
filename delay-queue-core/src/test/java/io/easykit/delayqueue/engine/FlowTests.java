package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.FlowShare;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

class FlowTests {

    private static final FlowLimits FIFTY = FlowLimits.of(Rate.parse("50/s"));
    private static final MessageHandler<String> NOTHING = message -> {};

    private final TestQueue queue = new TestQueue();
    private final List<FaultyStore> lines = new ArrayList<>();
    private final List<ListenerContainer> containers = new ArrayList<>();

    /** Starts a listener on a node of its own, whose runs last so long. */
    private SimulatedTime.Node node(Duration run, ListenerEndpoint.Builder endpoint, MessageHandler<String> handler) {
        return node(run, endpoint, handler, 1);
    }

    private SimulatedTime.Node node(
            Duration run, ListenerEndpoint.Builder endpoint, MessageHandler<String> handler, int shards) {
        SimulatedTime.Node node = queue.time.node();
        FaultyStore line = new FaultyStore(queue.memory);
        lines.add(line);
        DelayQueueEngine engine = queue.builder(node, line.asStore())
                .workers(node.workers(run))
                .shards(topic -> shards)
                .build();
        containers.add(queue.start(engine, endpoint, handler));
        return node;
    }

    private void send(int count) {
        List<OutgoingMessage> messages = IntStream.range(0, count)
                .mapToObj(i -> OutgoingMessage.of(TOPIC, "m" + i).after(Duration.ZERO))
                .toList();
        queue.engine.template().sendAll(messages);
    }

    /** The runs that began in each second. */
    private List<Integer> perSecond(int seconds) {
        long begin = queue.runs.get(0).at().toEpochMilli();
        List<Integer> counts = new ArrayList<>(Collections.nCopies(seconds, 0));
        queue.runs.stream()
                .map(run -> (int) ((run.at().toEpochMilli() - begin) / 1000))
                .filter(second -> second < seconds)
                .forEach(second -> counts.set(second, counts.get(second) + 1));
        return counts;
    }

    /** The most runs that began within any second. */
    private int mostWithinASecond() {
        List<Long> times =
                queue.runs.stream().map(run -> run.at().toEpochMilli()).sorted().toList();
        int most = 0;
        for (int from = 0, to = 0; to < times.size(); to++) {
            while (times.get(to) - times.get(from) >= 1000) {
                from++;
            }
            most = Math.max(most, to - from + 1);
        }
        return most;
    }

    @Test
    void threeNodesRunFiftyMessagesInEachSecond() {
        for (int i = 0; i < 3; i++) {
            node(Duration.ofMillis(5), listener().concurrency(8).limits(FIFTY), NOTHING);
        }
        send(3500);

        queue.time.advance(Duration.ofSeconds(61));

        assertThat(perSecond(60)).element(0).satisfies(count -> assertThat(count)
                .isBetween(50, 55)); // and the burst of a tenth of a second
        assertThat(perSecond(60).subList(1, 60)).allMatch(count -> count >= 49 && count <= 51, "50 a second");
        assertThat(mostWithinASecond()).isLessThanOrEqualTo(55);
    }

    /** With the shares of one shard, both together would run twice as fast. */
    @Test
    void aTopicThatGrowsSharesItsLimitsAnew() {
        node(Duration.ofMillis(5), listener().concurrency(8).limits(FIFTY), NOTHING);
        grow();
        send(3500);

        queue.time.advance(Duration.ofSeconds(61));

        assertThat(perSecond(60).subList(1, 60)).allMatch(count -> count >= 48 && count <= 52, "50 a second");
    }

    @Test
    void aTopicThatOutgrowsItsPlacesKeepsOneForEachShard() {
        node(Duration.ofSeconds(1), listener().concurrency(8).limits(FlowLimits.maxInFlight(1)), NOTHING);
        grow();
        send(20);

        queue.time.advance(Duration.ofSeconds(30));

        assertThat(queue.runs).hasSize(20);
    }

    @Test
    void aTopicDoesNotGrowBeyondItsPlaces() {
        node(Duration.ofSeconds(1), listener().concurrency(8).limits(FlowLimits.maxInFlight(3)), NOTHING);
        send(5);
        queue.time.advance(Duration.ofSeconds(5));

        assertThatThrownBy(() -> queue.engine.admin().growShards(TOPIC, 4))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("max-in-flight of at most 3")
                .hasMessageContaining("Give max-in-flight a value of 4 or more");
        assertThat(queue.engine.admin().growShards(TOPIC, 3)).isEqualTo(1);
    }

    /** Two places in one shard, and one in the other. */
    @Test
    void theSharesOfAllShardsAreTheLimit() {
        queue.memory.declare(TOPIC, 2);
        for (int shard = 0; shard < 2; shard++) {
            ShardKey key = new ShardKey(TOPIC, shard);
            queue.memory.send(
                    key, List.of(new NewMessage("m", DueTime.after(Duration.ZERO), Bytes.of(new byte[] {1}))));
            queue.time.advance(Duration.ofSeconds(1));
            queue.memory.claim(
                    key,
                    new Claim("node", 1, 1, 1, Duration.ofSeconds(1), List.of())
                            .under(FlowShare.of(FlowLimits.maxInFlight(3), shard, 2)));
        }

        assertThatThrownBy(() -> queue.engine.admin().growShards(TOPIC, 4))
                .hasMessageContaining("max-in-flight of at most 3");
        assertThat(queue.engine.admin().growShards(TOPIC, 3)).isEqualTo(2);
    }

    @Test
    void aShardThatIsRefusedKeepsNoTopicFromItsGrowth() {
        queue.memory.declare(TOPIC, 2);
        queue.line.planByShard(shard -> shard.shard() == 1 ? FaultyStore.Fault.REFUSED : FaultyStore.Fault.NONE);

        assertThat(queue.engine.admin().growShards(TOPIC, 3)).isEqualTo(2);
    }

    /** In a rolling deploy the nodes with the former limit could not start again. */
    @Test
    void aTopicDoesNotGrowByItsSettingsBeyondThePlacesOfOtherNodes() {
        node(Duration.ofSeconds(1), listener().concurrency(8).limits(FlowLimits.maxInFlight(3)), NOTHING);
        send(5);
        queue.time.advance(Duration.ofSeconds(5));
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Logger logger = (Logger) LoggerFactory.getLogger(TopicGrowth.class);
        logger.addAppender(logged);

        Topics four = new Topics(queue.memory, topic -> 4, queue.node::nanos);
        assertThat(four.shards(TOPIC).all()).isEqualTo(1);
        queue.time.advance(Duration.ofMinutes(2));
        assertThat(four.shards(TOPIC).all()).isEqualTo(1);
        assertThat(queue.memory.declared(TOPIC).all()).isEqualTo(1);
        assertThat(logged.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .startsWith("Topic orders keeps its 1 shards for now. Topic 'orders' has a max-in-flight of at most 3");
        logger.detachAppender(logged);
        assertThat(new Topics(queue.memory, topic -> 3, queue.node::nanos)
                        .shards(TOPIC)
                        .all())
                .isEqualTo(3);
    }

    /** To two shards, until the listener has started again, and messages are sent to both. */
    private void grow() {
        queue.engine.admin().growShards(TOPIC, 2);
        queue.time.advance(Duration.ofSeconds(90));
        await().until(() -> {
            queue.time.advance(Duration.ofMillis(100));
            return Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().equals("delay-queue-stop-close"));
        });
        queue.time.advance(Duration.ofMinutes(3));
    }

    @Test
    void aBurstAfterAQuietTimeIsBounded() {
        node(
                Duration.ofMillis(5),
                listener()
                        .concurrency(50)
                        .limits(FlowLimits.of(Rate.parse("600/min").withBurst(20))),
                NOTHING);
        queue.time.advance(Duration.ofHours(1));
        send(100);

        queue.time.advance(Duration.ofMillis(20));
        assertThat(queue.runs).hasSize(20);

        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.runs).hasSize(30);
    }

    @Test
    void aRetryUsesAPermitAndAMessageWithoutARunUsesNone() {
        node(
                Duration.ZERO,
                listener().limits(FlowLimits.of(Rate.parse("10/h"))).retry(RetryPolicy.fixed(3, Duration.ZERO)),
                message -> {
                    throw new IllegalStateException("no");
                });
        queue.time.advance(Duration.ofHours(1));
        queue.send("a", Duration.ZERO);

        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.runIds()).containsExactly("a");
        queue.time.advance(Duration.ofMinutes(6));
        assertThat(queue.runIds()).containsExactly("a", "a");
        queue.time.advance(Duration.ofMinutes(6));
        assertThat(queue.runIds()).containsExactly("a", "a", "a");
    }

    /** One call a second, as of an idle consumer, and one for each permit. */
    @Test
    void aLimitedConsumerClaimsOnlyWhenAPermitComes() {
        node(Duration.ZERO, listener().limits(FlowLimits.of(Rate.parse("60/min"))), NOTHING);
        send(1000);
        queue.time.advance(Duration.ofSeconds(5));
        lines.get(0).takeCalls();
        queue.runs.clear();

        for (int i = 0; i < 60; i++) {
            queue.send("own" + i, Duration.ZERO);
            queue.time.advance(Duration.ofSeconds(1));
        }

        assertThat(queue.runs).hasSize(60);
        assertThat(Collections.frequency(lines.get(0).takeCalls(), "claim")).isLessThan(3 * 60);
    }

    @Test
    void aLimitedTopicDelaysNoOther() {
        node(Duration.ZERO, listener().limits(FlowLimits.of(Rate.parse("1/min"))), NOTHING);
        SimulatedTime.Node other = queue.time.node();
        DelayQueueEngine engine = queue.builder(other, queue.memory).build();
        queue.start(engine, ListenerEndpoint.builder("mail", "mail", String.class), NOTHING);
        send(100);
        queue.time.advance(Duration.ofSeconds(2));
        queue.runs.clear();

        engine.template().send(OutgoingMessage.of("mail", "hello").after(Duration.ofSeconds(1)));
        long due = queue.time.micros() / 1000 + 1000;
        queue.time.advance(Duration.ofSeconds(3));

        assertThat(queue.runs).hasSize(1).allSatisfy(run -> assertThat(run.at().toEpochMilli() - due)
                .isBetween(0L, 2L));
    }

    @Test
    void asManyMessagesAreInFlightAsMayBeAndAFreePlaceIsTakenAtOnce() {
        for (int i = 0; i < 3; i++) {
            node(Duration.ofMillis(500), listener().concurrency(10).limits(FlowLimits.maxInFlight(7)), NOTHING);
        }
        send(500);
        long most = 0;
        for (int i = 0; i < 200; i++) {
            queue.time.advance(Duration.ofMillis(50));
            most = Math.max(most, queue.stats().inFlight());
        }

        assertThat(most).isEqualTo(7);
        assertThat(queue.runs.size()).isBetween(19 * 7, 20 * 7); // 20 times half a second
    }

    @Test
    void aFailedMessageFreesItsPlaceAtOnce() {
        node(
                Duration.ofMillis(10),
                listener().limits(FlowLimits.maxInFlight(1)).retry(RetryPolicy.fixed(2, Duration.ofMinutes(10))),
                message -> {
                    throw new IllegalStateException("no");
                });
        send(20);

        queue.time.advance(Duration.ofMillis(500));

        assertThat(queue.runs).hasSize(20);
    }

    /** Such a node makes no claim, which would wake the others. */
    @Test
    void aPlaceThatAPausedNodeFreesIsTakenWithinASecond() {
        ListenerEndpoint.Builder endpoint = listener().limits(FlowLimits.maxInFlight(1));
        node(Duration.ofMillis(500), endpoint, NOTHING);
        send(2);
        queue.time.advance(Duration.ofMillis(100));
        node(Duration.ofMillis(1), endpoint, NOTHING);
        containers.get(0).pause();

        queue.time.advance(Duration.ofMillis(1500));

        assertThat(queue.runs).hasSize(2);
    }

    @Test
    void aLimitedTopicIsNotPrefetched() {
        long[] most = new long[2];
        for (int i = 0; i < 2; i++) {
            int limited = i;
            SimulatedTime.Node node = queue.time.node();
            DelayQueueEngine engine = queue.builder(node, queue.memory)
                    .pools(endpoint -> node.pool(1, () -> Duration.ofNanos(50_000)))
                    .build();
            ListenerContainer container = queue.start(
                    engine,
                    listener().limits(i == 0 ? FlowLimits.NONE : FlowLimits.maxInFlight(50)),
                    message -> most[limited] =
                            Math.max(most[limited], queue.stats().inFlight()));
            send(1000);
            queue.time.advance(Duration.ofSeconds(1));
            queue.stop(container);
        }

        assertThat(most[0]).isGreaterThan(1);
        assertThat(most[1]).isEqualTo(1);
    }

    @Test
    void aNodeThatDiesGivesItsPlacesBackWithItsLeases() {
        ListenerEndpoint.Builder endpoint =
                listener().concurrency(5).lease(Duration.ofSeconds(10)).limits(FlowLimits.maxInFlight(3));
        SimulatedTime.Node dying = node(Duration.ofHours(1), endpoint, NOTHING);
        send(5);
        queue.time.advance(Duration.ofSeconds(1));
        node(Duration.ofMillis(1), endpoint, NOTHING);
        queue.time.advance(Duration.ofSeconds(30));
        assertThat(queue.runs).isEmpty();

        dying.kill();
        queue.time.advance(Duration.ofSeconds(13)); // the lease, and a second until it is reaped

        assertThat(queue.runs).hasSize(5);
    }

    @Test
    void eachShardHasAShareOfTheLimits() {
        for (int i = 0; i < 2; i++) {
            node(
                    Duration.ofMillis(5),
                    listener().concurrency(8).limits(new FlowLimits(Rate.parse("40/s"), 6)),
                    NOTHING,
                    4);
        }
        List<OutgoingMessage> messages = IntStream.range(0, 1200)
                .mapToObj(i -> OutgoingMessage.of(TOPIC, "m" + i).after(Duration.ZERO))
                .toList();
        DelayQueueEngine sender = queue.builder(queue.time.node(), queue.memory)
                .shards(topic -> 4)
                .build();
        sender.template().sendAll(messages);

        queue.time.advance(Duration.ofSeconds(11));

        assertThat(perSecond(10).subList(1, 10)).allMatch(count -> count >= 38 && count <= 42, "40 a second");
        TopicStats stats = sender.admin().stats(TOPIC);
        assertThat(stats.limited()).isTrue();
        assertThat(stats.flow())
                .satisfies(flow -> assertThat(flow.perSecond()).isEqualTo(40))
                .satisfies(flow -> assertThat(flow.places()).isEqualTo(6))
                .satisfies(flow -> assertThat(flow.burst()).isEqualTo(4));
    }

    @Test
    void aShardWithoutAPlaceIsAMistake() {
        assertThatThrownBy(() -> node(Duration.ZERO, listener().limits(FlowLimits.maxInFlight(3)), NOTHING, 4))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has maxInFlight 3, and its topic 'orders' has 4 shards")
                .hasMessageContaining("4 or more");
        assertThat(queue.memory.declared(TOPIC).isKept())
                .as("the count could not be corrected then")
                .isFalse();
    }

    @Test
    void nodesWithDifferentLimitsAreReportedAndNoneExceedsTheLargerOne() {
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Logger logger = (Logger) LoggerFactory.getLogger(OtherLimits.class);
        logger.addAppender(logged);
        try {
            node(Duration.ofMillis(5), listener().concurrency(8).limits(FlowLimits.of(Rate.parse("20/s"))), NOTHING);
            node(Duration.ofMillis(5), listener().concurrency(8).limits(FIFTY), NOTHING);
            send(10_000);
            queue.time.advance(Duration.ofMinutes(2));

            assertThat(queue.runs.size()).isBetween(120 * 20, 120 * 50 + 5);
            assertThat(logged.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .anyMatch(line ->
                            line.contains("Topic orders has limits of ") && line.contains("Give all nodes the same."))
                    .hasSizeLessThanOrEqualTo(2);
        } finally {
            logger.detachAppender(logged);
        }
    }

    @Test
    void aNodeWithoutLimitsReportsThatAnotherOneHasSome() {
        assertThat(linesOf(() -> {
                    node(Duration.ofMillis(5), listener().concurrency(8), NOTHING);
                    node(Duration.ofMillis(5), listener().concurrency(8).limits(FIFTY), NOTHING);
                    for (int i = 0; i < 130; i++) {
                        send(10);
                        queue.time.advance(Duration.ofSeconds(1));
                    }
                }))
                .singleElement()
                .asString()
                .contains("Topic orders has no limits on this node", "about 50.0 a second", "Give all nodes the same.");
    }

    /** A share stays for an hour in a shard from which nobody claims a message. */
    @ParameterizedTest
    @ValueSource(strings = {"20/s", ""})
    void limitsThatWereChangedWhileNoNodeRanAreNotThoseOfAnotherNode(String rate) {
        FlowLimits changed = rate.isEmpty() ? FlowLimits.NONE : FlowLimits.of(Rate.parse(rate));
        node(Duration.ofMillis(5), listener().concurrency(8).limits(FIFTY), NOTHING, 4);
        send(200);
        queue.time.advance(Duration.ofSeconds(20));
        queue.stop(containers.get(0));

        assertThat(linesOf(() -> {
                    node(Duration.ofMillis(5), listener().concurrency(8).limits(changed), NOTHING, 4);
                    queue.time.advance(Duration.ofMinutes(5));
                }))
                .isEmpty();
    }

    private static List<String> linesOf(Runnable work) {
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Logger logger = (Logger) LoggerFactory.getLogger(OtherLimits.class);
        logger.addAppender(logged);
        try {
            work.run();
            return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
        } finally {
            logger.detachAppender(logged);
        }
    }

    /** The first shard is not used, so it has no limits to compare with. */
    @Test
    void differentLimitsAreReportedOnceWhicheverShardIsUsed() {
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Logger logger = (Logger) LoggerFactory.getLogger(OtherLimits.class);
        logger.addAppender(logged);
        try {
            FlowLimits few = FlowLimits.maxInFlight(9);
            FlowLimits many = FlowLimits.maxInFlight(40);
            node(Duration.ofMillis(5), listener().concurrency(8).limits(few), NOTHING, 4);
            node(Duration.ofMillis(5), listener().concurrency(8).limits(many), NOTHING, 4);
            DelayQueueEngine sender = queue.builder(queue.time.node(), queue.memory)
                    .shards(topic -> 4)
                    .build();
            for (int i = 0; i < 4000; i++) {
                String id = "m" + i;
                if (MessageIds.shardOf(id, 4, 4) != 0) {
                    sender.template().send(OutgoingMessage.of(TOPIC, id).id(id).after(Duration.ZERO));
                }
            }
            queue.time.advance(Duration.ofSeconds(15));

            assertThat(sender.admin().stats(TOPIC).shards().get(0).flow()).isNull();
            assertThat(logged.list)
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .as("a line of a node that finds limits of the other one")
                    .isNotEmpty()
                    .doesNotHaveDuplicates()
                    .allMatch(line -> line.contains("and another node uses others"));
        } finally {
            logger.detachAppender(logged);
        }
    }

    @Test
    void theStoreAwayOrALostReplyLetsNoMoreThroughThanTheBurst() {
        node(Duration.ofMillis(5), listener().concurrency(8).limits(FIFTY), NOTHING);
        send(3000);
        boolean[] isLost = new boolean[1];
        lines.get(0).plan(method -> {
            isLost[0] = method.equals("claim") && !isLost[0];
            return isLost[0] ? FaultyStore.Fault.LOST_REPLY : FaultyStore.Fault.NONE;
        });
        queue.time.advance(Duration.ofSeconds(10));
        lines.get(0).away();
        queue.time.advance(Duration.ofSeconds(10));
        lines.get(0).heal();
        queue.time.advance(Duration.ofSeconds(10));

        // The messages of a lost reply run when the claim is repeated.
        assertThat(mostWithinASecond()).isLessThanOrEqualTo(55 + 5);
        assertThat(queue.runs.size()).isGreaterThan(300); // it goes on
    }
}
