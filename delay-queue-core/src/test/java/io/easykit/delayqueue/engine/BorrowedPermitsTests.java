package io.easykit.delayqueue.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.FlowLimits;
import io.easykit.delayqueue.FlowLimits.Rate;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.Borrowed;
import io.easykit.delayqueue.store.Lent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A topic of four shards with a rate, whose messages are not spread evenly. In virtual time. */
class BorrowedPermitsTests {

    private static final String TOPIC = "orders";
    private static final int SHARDS = 4;
    private static final Rate FIFTY = Rate.parse("50/s");
    private static final MessageHandler<String> NOTHING = message -> {};

    /** What the shares of all shards keep. */
    private static final int BURST = 5;

    /** Permits of the tenth of a second in which borrowed ones may be used. */
    private static final int LAPSE = 5;

    private final TestQueue queue = new TestQueue();
    private final List<FaultyStore> lines = new ArrayList<>();

    private void node(FlowLimits limits, int concurrency) {
        SimulatedTime.Node node = queue.time.node();
        FaultyStore line = new FaultyStore(queue.memory);
        lines.add(line);
        DelayQueueEngine engine = queue.builder(node, line.asStore())
                .workers(node.workers(Duration.ofMillis(5)))
                .shards(topic -> SHARDS)
                .build();
        ListenerEndpoint.Builder endpoint = ListenerEndpoint.builder("close", TOPIC, String.class)
                .concurrency(concurrency)
                .limits(limits);
        queue.start(engine, endpoint, NOTHING);
    }

    private void sendTo(IntPredicate shard, int count) {
        DelayQueueEngine sender = queue.builder(queue.time.node(), queue.memory)
                .shards(topic -> SHARDS)
                .build();
        List<OutgoingMessage> messages = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "m" + i)
                .filter(id -> shard.test(MessageIds.shardOf(id, SHARDS, SHARDS)))
                .limit(count)
                .map(id -> OutgoingMessage.of(TOPIC, id).id(id).after(Duration.ZERO))
                .toList();
        sender.template().sendAll(messages);
    }

    private int mostWithin(Duration time) {
        List<Long> times =
                queue.runs.stream().map(run -> run.at().toEpochMilli()).sorted().toList();
        int most = 0;
        for (int from = 0, to = 0; to < times.size(); to++) {
            while (times.get(to) - times.get(from) >= time.toMillis()) {
                from++;
            }
            most = Math.max(most, to - from + 1);
        }
        return most;
    }

    private int lends() {
        return lines.stream()
                .mapToInt(line -> Collections.frequency(line.takeCalls(), "lend"))
                .sum();
    }

    private void requireRate() {
        assertThat(mostWithin(Duration.ofSeconds(1))).isLessThanOrEqualTo(50 + BURST + LAPSE);
        assertThat(mostWithin(Duration.ofSeconds(60))).isLessThanOrEqualTo(60 * 50 + BURST + LAPSE);
    }

    @Test
    void messagesOfOneShardRunAtTheRateOfTheTopic() {
        node(FlowLimits.of(FIFTY), 8);
        sendTo(shard -> shard == 2, 4000);

        queue.time.advance(Duration.ofSeconds(61));

        assertThat(queue.runs.size()).isBetween(60 * 48, 61 * 50 + BURST);
        requireRate();
    }

    @Test
    void severalNodesAndBusyShardsShareTheRate() {
        for (int i = 0; i < 3; i++) {
            node(FlowLimits.of(FIFTY), 8);
        }
        sendTo(shard -> shard < 2, 4000);

        queue.time.advance(Duration.ofSeconds(61));

        assertThat(queue.runs.size()).isBetween(60 * 46, 61 * 50 + BURST);
        requireRate();
    }

    @Test
    void aShardThatGetsMessagesHasItsShareAtOnce() {
        node(FlowLimits.of(FIFTY), 8);
        sendTo(shard -> shard == 2, 4000);
        queue.time.advance(Duration.ofSeconds(10));
        queue.runs.clear();

        sendTo(shard -> shard == 0, 1000);
        queue.time.advance(Duration.ofSeconds(20));

        long ofNewcomer = queue.runs.stream()
                .filter(run -> MessageIds.shardOf(run.payload(), SHARDS, SHARDS) == 0)
                .count();
        assertThat(ofNewcomer).isBetween(20 * 12L, 20 * 38L);
        requireRate();
    }

    @Test
    void nothingIsCalledWithoutARate() {
        node(FlowLimits.maxInFlight(8), 8);
        sendTo(shard -> shard == 2, 500);
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(lends()).isZero();
    }

    @Test
    void nothingIsCalledWhileAllShardsAreBusy() {
        node(FlowLimits.of(FIFTY), 8);
        sendTo(shard -> true, 4000);
        queue.time.advance(Duration.ofSeconds(1));
        lends();
        queue.time.advance(Duration.ofSeconds(30));
        assertThat(lends()).isZero();
    }

    @Test
    void lostAndRepeatedCallsLosePermitsAndUseNoneTwice() {
        node(FlowLimits.of(FIFTY), 8);
        node(FlowLimits.of(FIFTY), 8);
        Random random = new Random(7);
        lines.forEach(line -> line.plan(method ->
                random.nextInt(20) > 0 ? Fault.NONE : random.nextBoolean() ? Fault.LOST_REPLY : Fault.LOST_REQUEST));
        sendTo(shard -> shard == 2, 4000);

        queue.time.advance(Duration.ofSeconds(61));

        assertThat(queue.runs.size()).isGreaterThan(20 * 50);
        assertThat(queue.runs.stream().map(run -> run.at().toEpochMilli()).distinct())
                .isNotEmpty();
        requireRate();
    }

    @Test
    void aTopicWhoseOtherShardsAreAwayKeepsItsOwnShare() {
        node(FlowLimits.of(FIFTY), 8);
        sendTo(shard -> shard == 2, 4000);
        queue.time.advance(Duration.ofSeconds(2));
        lines.get(0).planByShard(shard -> shard.shard() == 2 ? Fault.NONE : Fault.LOST_REQUEST);
        queue.runs.clear();

        queue.time.advance(Duration.ofSeconds(20));

        assertThat(queue.runs.size()).isBetween(20 * 11, 20 * 15);
    }

    /** Each call that waits in vain holds up the claims, renewals and acknowledgements of the shard that borrows. */
    @Test
    void shardsThatAreSilentAreAskedOnceTogether() {
        FaultyStore line = new FaultyStore(queue.memory);
        lines.add(line);
        line.plan(method -> Fault.LOST_REQUEST);
        ListenerEndpoint endpoint = ListenerEndpoint.builder("close", TOPIC, String.class)
                .limits(FlowLimits.of(FIFTY))
                .build();
        Lenders lenders = new Lenders(line.asStore(), endpoint, SHARDS, () -> 0);
        for (int shard = 1; shard < SHARDS; shard++) {
            lenders.note(shard, true);
        }

        assertThat(lenders.borrow(0, 10, () -> Instant.EPOCH)).isEqualTo(Borrowed.NONE);

        assertThat(lends()).isOne();
    }

    /** The shards of a cluster lie on several masters. */
    @ParameterizedTest
    @ValueSource(longs = {-150, -20, 20, 150})
    void theClocksOfTwoMastersMayDiffer(long aheadMillis) {
        node(FlowLimits.of(FIFTY), 8);
        lines.get(0).changeReplies(reply -> reply instanceof Lent lent ? ahead(lent, aheadMillis) : reply);
        sendTo(shard -> shard == 2, 4000);

        queue.time.advance(Duration.ofSeconds(20));

        assertThat(queue.runs.size()).isBetween(20 * 48, 20 * 50 + BURST);
        requireRate();
    }

    /** Three shards that lend, and a claim: together more than the time in which permits lapse. */
    @Test
    void aLongTripLeavesTimeForTheClaim() {
        node(FlowLimits.of(FIFTY), 8);
        lines.get(0).plan(method -> {
            if (method.equals("lend") || method.equals("claim")) {
                queue.time.advance(Duration.ofMillis(35));
            }
            return Fault.NONE;
        });
        sendTo(shard -> shard == 2, 4000);

        queue.time.advance(Duration.ofSeconds(20));

        assertThat(queue.runs.size()).isGreaterThan(20 * 15);
        requireRate();
    }

    private static Lent ahead(Lent lent, long millis) {
        Instant next = lent.next();
        return new Lent(lent.now().plusMillis(millis), lent.permits(), next == null ? null : next.plusMillis(millis));
    }
}
