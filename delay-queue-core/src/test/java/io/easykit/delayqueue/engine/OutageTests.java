package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutageTests {

    private static final Duration MILLI = Duration.ofMillis(1);
    private static final RetryPolicy ONE_ATTEMPT = RetryPolicy.fixed(1, Duration.ZERO);

    private final TestQueue queue = new TestQueue();
    private long deadClaims;

    @ParameterizedTest
    @CsvSource({
        "claim, LOST_REQUEST",
        "claim, LOST_REPLY",
        "acknowledge, LOST_REQUEST",
        "acknowledge, LOST_REPLY",
        "fail, LOST_REQUEST",
        "fail, LOST_REPLY",
        "extend, LOST_REPLY",
        "reap, LOST_REPLY",
    })
    void losesNothingAndRunsNothingTwiceForOneLostMessageOnTheLine(String method, Fault fault) {
        queue.start(listener().concurrency(3).retry(RetryPolicy.fixed(2, Duration.ofSeconds(1))), message -> {
            if (message.attempt() == 1) {
                throw new IllegalStateException();
            }
        });
        queue.time.advance(MILLI);
        queue.line.once(method, fault);
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(queue.runs).hasSize(20);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(10);
        assertThat(queue.stats().counters().failed()).isEqualTo(10);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).isEmpty();
    }

    @Test
    void goesOnByItselfWithinTwoSecondsOfAnOutage() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(5));
        queue.send("a", Duration.ofSeconds(30));
        queue.line.away();
        queue.time.advance(Duration.ofMinutes(10));
        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(queue.runIds()).containsExactly("a");
    }

    @Test
    void asksAtMostAFewTimesASecondDuringAnOutage() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(5));
        queue.line.away();
        queue.time.advance(Duration.ofSeconds(10));
        queue.line.takeCalls();

        queue.time.advance(Duration.ofSeconds(100));

        assertThat(queue.line.takeCalls()).hasSizeBetween(90, 220);
    }

    @Test
    void startsWhileTheStoreIsAway() {
        queue.line.away();
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(30));
        queue.line.heal();
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(queue.runIds()).containsExactly("a");
    }

    @Test
    void acknowledgesAfterAnOutageLongerThanTheLeaseWhatNobodyTookMeanwhile() {
        List<Acknowledgment> running = new ArrayList<>();
        queue.start(
                listener().ackMode(AckMode.MANUAL).lease(Duration.ofSeconds(5)),
                message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        running.get(0).acknowledge();
        queue.line.away();
        queue.time.advance(Duration.ofMinutes(1));
        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(queue.stats().counters().sent()).isEqualTo(1);
        assertThat(queue.stats().imbalance()).isZero();
    }

    /** An outage, and a lease that ends during it. */
    @ParameterizedTest
    @CsvSource({"3, 1", "20, 5", "60, 30"})
    void runsNothingTwiceThatHasFinishedDuringAnOutageLongerThanTheLease(int outage, int lease) {
        List<Acknowledgment> running = new ArrayList<>();
        queue.start(
                listener()
                        .ackMode(AckMode.MANUAL)
                        .concurrency(4)
                        .maxLeaseExpirations(1)
                        .lease(Duration.ofSeconds(lease)),
                message -> running.add(message.acknowledgment()));
        IntStream.range(0, 4).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(MILLI);
        queue.line.away();
        running.get(0).acknowledge();
        queue.time.advance(Duration.ofSeconds(outage).dividedBy(2));
        running.get(1).acknowledge();
        running.get(2).fail(new IllegalStateException(), Duration.ofMinutes(10));
        queue.time.advance(Duration.ofSeconds(outage).dividedBy(2));
        running.get(3).acknowledge();
        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(queue.runs).hasSize(4);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(3);
        assertThat(queue.stats().counters().failed()).isEqualTo(1);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(queue.stats().dead()).isZero();
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).isEmpty();
    }

    /** One of them may wait for two timeouts when the outage ends. Pauses between calls are random. */
    @ParameterizedTest
    @CsvSource({"250, 1200", "1000, 2800"})
    void leavesTimeAfterAnOutageForOtherNodesToTellWhatHasFinished(int commandTimeout, int later) {
        Duration timeout = Duration.ofMillis(commandTimeout);
        for (int i = 0; i < 20; i++) {
            TestQueue one = new TestQueue(builder -> builder.commandTimeout(timeout));
            List<Acknowledgment> running = new ArrayList<>();
            ListenerEndpoint.Builder endpoint =
                    listener().ackMode(AckMode.MANUAL).maxLeaseExpirations(1).lease(Duration.ofSeconds(5));
            FaultyStore otherLine = new FaultyStore(one.memory);
            DelayQueueEngine other = one.builder(one.time.node(), otherLine.asStore())
                    .commandTimeout(timeout)
                    .build();
            one.start(endpoint, message -> running.add(message.acknowledgment()));
            one.send("a", Duration.ZERO);
            one.time.advance(MILLI);
            one.start(other, endpoint, message -> {});
            one.time.advance(Duration.ofSeconds(1));
            one.line.away();
            otherLine.away();
            running.get(0).acknowledge();
            one.time.advance(Duration.ofSeconds(20));
            otherLine.heal();
            one.time.advance(Duration.ofMillis(later));
            one.line.heal();
            one.time.advance(Duration.ofSeconds(10));

            assertThat(one.runs).hasSize(1);
            assertThat(one.stats().counters().acknowledged()).isEqualTo(1);
            assertThat(one.stats().dead()).isZero();
        }
    }

    @Test
    void takesBackWhatADeadNodeHeldAlthoughTheLineFailsAgainAndAgain() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(1));
        holdByADeadNode("a", Duration.ofSeconds(1));
        for (int i = 0; i < 10; i++) {
            queue.line.away();
            queue.time.advance(Duration.ofMillis(2_500));
            queue.line.heal();
            queue.time.advance(Duration.ofMillis(2_500));
        }

        assertThat(queue.runIds()).containsExactly("a");
    }

    /** A claim without an answer is repeated before the messages that it may have handed out are taken back as lost. */
    @Test
    void losesNoLeaseOfWhatAClaimWithoutAnswerHandedOutBeforeALongOutage() {
        queue.start(listener().maxLeaseExpirations(1).lease(Duration.ofSeconds(5)), message -> {});
        queue.time.advance(Duration.ofSeconds(2));
        boolean[] claimed = new boolean[1];
        queue.line.plan(method -> {
            boolean first = !claimed[0] && method.equals("claim");
            claimed[0] |= first;
            return first ? Fault.LOST_REPLY : Fault.LOST_REQUEST;
        });
        queue.memory.send(new ShardKey(TOPIC, 0), List.of(message("a", Duration.ZERO)));
        queue.time.advance(Duration.ofSeconds(20));
        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(queue.runIds()).containsExactly("a");
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    /** Renewals come in time although the pauses between two calls have become long. */
    @ParameterizedTest
    @CsvSource({"3", "20", "60"})
    void interruptsNoHandlerWhoseLeaseOutlastsTheOutage(int outage) {
        Duration away = Duration.ofSeconds(outage);
        Duration margin = Duration.ofMillis(200);
        for (int phase = 0; phase < 20; phase++) {
            TestQueue one = new TestQueue();
            List<Acknowledgment> running = new ArrayList<>();
            one.start(
                    listener().ackMode(AckMode.MANUAL).maxLeaseExpirations(1).lease(away.plus(margin)),
                    message -> running.add(message.acknowledgment()));
            one.send("a", Duration.ZERO);
            one.time.advance(Duration.ofMillis(1 + phase));
            one.line.away();
            one.time.advance(away.minusMillis(phase));
            one.line.heal();
            one.time.advance(Duration.ofSeconds(100));
            assertThat(running.get(0).isLost()).isFalse();
            running.get(0).acknowledge();
            one.time.advance(Duration.ofSeconds(1));

            assertThat(one.runs).hasSize(1);
            assertThat(one.events(DelayQueueEvent.LeaseLost.class)).isEmpty();
            assertThat(one.stats().counters().leaseExpirations()).isZero();
            assertThat(one.stats().counters().acknowledged()).isEqualTo(1);
        }
    }

    /** By that clock the leases end at once, although the outage was shorter than they are. */
    @ParameterizedTest
    @CsvSource({"1, 3", "8, 10", "30, 25"})
    void runsNothingTwiceAfterAFailOverToAServerWhoseClockIsAhead(int concurrency, int lease) {
        List<Acknowledgment> running = new ArrayList<>();
        queue.start(
                listener()
                        .ackMode(AckMode.MANUAL)
                        .concurrency(concurrency)
                        .maxLeaseExpirations(1)
                        .lease(Duration.ofSeconds(lease)),
                message -> running.add(message.acknowledgment()));
        IntStream.range(0, concurrency).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofMillis(500));
        queue.line.away();
        queue.time.advance(Duration.ofMillis(900));
        queue.storeClockOffset.set(TimeUnit.SECONDS.toMicros(40));
        queue.line.heal();
        queue.time.advance(Duration.ofMinutes(1));
        running.forEach(Acknowledgment::acknowledge);
        queue.time.advance(Duration.ofSeconds(1));

        queue.assertEachRanOnce(concurrency);
        assertThat(queue.stats().dead()).isZero();
    }

    /** No call fails, but the connection of the subscriptions breaks, so all consumers claim at once. By the new clock all leases are over. */
    @ParameterizedTest
    @CsvSource({"2, 1", "1, 2"})
    void runsNothingTwiceAfterAFailOverThatFailedNoCallToAServerWhoseClockIsAhead(int concurrency, int messages) {
        List<Acknowledgment> running = new ArrayList<>();
        ListenerEndpoint.Builder endpoint =
                listener().ackMode(AckMode.MANUAL).concurrency(concurrency).maxLeaseExpirations(1);
        FaultyStore otherLine = new FaultyStore(queue.memory);
        queue.start(endpoint, message -> running.add(message.acknowledgment()));
        queue.send("m0", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.start(otherNode(otherLine), endpoint, message -> running.add(message.acknowledgment()));
        IntStream.range(1, messages).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofSeconds(1));
        stepAhead(Duration.ofSeconds(40));
        otherLine.resubscribe();
        queue.line.resubscribe();
        queue.time.advance(Duration.ofMinutes(1));
        running.forEach(Acknowledgment::acknowledge);
        queue.time.advance(Duration.ofSeconds(1));

        queue.assertEachRanOnce(messages);
    }

    /** With this timeout it ends no leases for 21 seconds after the outage of its own line. It has no permit, so it does not claim. */
    @Test
    void seesAStepOfTheClockWhileItSparesLeasesAfterAnOutage() {
        Duration timeout = Duration.ofSeconds(10);
        TestQueue one = new TestQueue(builder -> builder.commandTimeout(timeout));
        List<Acknowledgment> running = new ArrayList<>();
        ListenerEndpoint.Builder endpoint = listener().ackMode(AckMode.MANUAL).lease(Duration.ofMinutes(1));
        one.start(endpoint, message -> running.add(message.acknowledgment()));
        one.send("a", Duration.ZERO);
        one.time.advance(MILLI);
        FaultyStore otherLine = new FaultyStore(one.memory);
        DelayQueueEngine other = one.builder(one.time.node(), otherLine.asStore())
                .commandTimeout(timeout)
                .build();
        one.start(other, endpoint, message -> {});
        one.line.away();
        one.time.advance(Duration.ofSeconds(3));
        one.line.heal();
        one.time.advance(Duration.ofSeconds(2));
        one.storeClockOffset.set(TimeUnit.MINUTES.toMicros(2));
        one.line.resubscribe();
        otherLine.resubscribe();
        one.time.advance(Duration.ofMinutes(2));
        running.get(0).acknowledge();
        one.time.advance(Duration.ofSeconds(1));

        one.assertEachRanOnce(1);
    }

    @Test
    void takesBackWhatADeadNodeHeldAfterItHasSparedLeasesWithoutAPermit() {
        List<Acknowledgment> running = new ArrayList<>();
        queue.start(
                listener().ackMode(AckMode.MANUAL).lease(Duration.ofMinutes(1)),
                message -> running.add(message.acknowledgment()));
        queue.time.advance(Duration.ofSeconds(1));
        holdByADeadNode("a", Duration.ofSeconds(1));
        queue.send("b", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.line.away();
        queue.time.advance(Duration.ofSeconds(3));
        queue.line.takeCalls();
        queue.line.heal();
        queue.time.advance(Duration.ofMillis(1_900));
        assertThat(queue.line.takeCalls()).contains("reap");
        assertThat(queue.stats().counters().leaseExpirations()).isZero();

        queue.time.advance(Duration.ofSeconds(3));
        assertThat(queue.stats().counters().leaseExpirations()).isEqualTo(1);
    }

    /** It has proof that no wakeup was lost, and its leases last longer than that. */
    @Test
    void leavesTimeForAConsumerThatSeesTheStepOfTheClockTenSecondsLater() {
        List<Acknowledgment> running = new ArrayList<>();
        ListenerEndpoint.Builder endpoint =
                listener().ackMode(AckMode.MANUAL).concurrency(2).lease(Duration.ofMinutes(1));
        queue.line.proveWakeups(() -> Duration.ZERO);
        queue.start(endpoint, message -> running.add(message.acknowledgment()));
        queue.time.advance(Duration.ofSeconds(1));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        FaultyStore otherLine = new FaultyStore(queue.memory);
        queue.start(otherNode(otherLine), endpoint, message -> {});
        queue.time.advance(MILLI);
        stepAhead(Duration.ofMinutes(2));
        otherLine.resubscribe();
        queue.time.advance(Duration.ofMinutes(2));
        running.get(0).acknowledge();
        queue.time.advance(Duration.ofSeconds(1));

        queue.assertEachRanOnce(1);
    }

    @Test
    void takesBackWhatADeadNodeHeldAfterAStepOfTheClock() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(1));
        holdByADeadNode("before", Duration.ofSeconds(10));
        stepAhead(Duration.ofSeconds(40));
        queue.time.advance(Duration.ofSeconds(1));
        holdByADeadNode("after", Duration.ofSeconds(5));
        queue.line.takeCalls();
        queue.time.advance(Duration.ofSeconds(7));

        assertThat(queue.runs).isEmpty();
        // Not one with each claim, as the clock of the store would suggest.
        assertThat(queue.line.takeCalls()).contains("claim").doesNotContain("reap");

        queue.time.advance(Duration.ofSeconds(3));
        assertThat(queue.runIds()).containsExactly("before");
        queue.time.advance(Duration.ofSeconds(4));
        assertThat(queue.runIds()).containsExactly("before", "after");
    }

    @Test
    void takesBackWhatADeadNodeHeldAlthoughServersWithTwoClocksAnswerInTurn() {
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(1));
        stepAhead(Duration.ofSeconds(40));
        queue.time.advance(Duration.ofSeconds(1));
        holdByADeadNode("a", Duration.ofSeconds(5));
        for (int i = 0; i < 20; i++) {
            queue.storeClockOffset.set(TimeUnit.SECONDS.toMicros(i % 2 == 0 ? 0 : 40));
            queue.time.advance(Duration.ofSeconds(1));
        }

        assertThat(queue.runIds()).containsExactly("a");
    }

    /** After a step messages of dead nodes are late. The next reply takes no time, so that it seems to be ahead. */
    @Test
    void takesASlowReplyForNoStepAhead() {
        Duration slow = Duration.ofSeconds(3);
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofSeconds(1));
        queue.line.changeReplies(reply -> {
            queue.time.pass(reply instanceof Claimed ? slow : Duration.ZERO);
            return reply;
        });
        queue.time.advance(Duration.ofSeconds(1));
        queue.line.changeReplies(UnaryOperator.identity());
        holdByADeadNode("a", Duration.ofSeconds(5));
        queue.time.advance(Duration.ofSeconds(7));

        assertThat(queue.runIds()).containsExactly("a");
    }

    /** The step ahead is a second after the step back. */
    @Test
    void seesAStepAheadSoonAfterAStepBack() {
        List<Acknowledgment> running = new ArrayList<>();
        ListenerEndpoint.Builder endpoint = listener().ackMode(AckMode.MANUAL).concurrency(2);
        FaultyStore otherLine = new FaultyStore(queue.memory);
        queue.start(endpoint, message -> running.add(message.acknowledgment()));
        queue.start(otherNode(otherLine), endpoint, message -> running.add(message.acknowledgment()));
        queue.time.advance(Duration.ofMillis(960));
        stepAhead(Duration.ofSeconds(-40));
        queue.time.advance(Duration.ofMillis(950));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        stepAhead(Duration.ofSeconds(40));
        otherLine.resubscribe();
        queue.line.resubscribe();
        queue.time.advance(Duration.ofMinutes(1));
        running.get(0).acknowledge();
        queue.time.advance(Duration.ofSeconds(1));

        queue.assertEachRanOnce(1);
    }

    /** It has no reply of its own yet. The other node, whose message runs, learns of the step later. */
    @ParameterizedTest
    @CsvSource({"true", "false"})
    void seesAStepOfTheClockWhenAListenerStartsAnew(boolean isBesideAnother) {
        List<Acknowledgment> running = new ArrayList<>();
        ListenerEndpoint.Builder endpoint =
                listener().ackMode(AckMode.MANUAL).concurrency(2).lease(Duration.ofMinutes(1));
        FaultyStore otherLine = new FaultyStore(queue.memory);
        otherLine.proveWakeups(() -> Duration.ZERO);
        DelayQueueEngine other = otherNode(otherLine);
        queue.start(other, endpoint, message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        ListenerContainer earlier = queue.start(endpoint, message -> {});
        queue.time.advance(Duration.ofSeconds(2));
        if (!isBesideAnother) {
            queue.stop(earlier);
        }
        stepAhead(Duration.ofMinutes(2));
        if (isBesideAnother) {
            queue.line.resubscribe();
            queue.time.advance(MILLI);
        }
        queue.start(endpoint, message -> {});
        queue.time.advance(Duration.ofMinutes(1));
        running.get(0).acknowledge();
        queue.time.advance(Duration.ofSeconds(1));

        queue.assertEachRanOnce(1);
    }

    private DelayQueueEngine otherNode(FaultyStore line) {
        return queue.builder(queue.time.node(), line.asStore()).build();
    }

    private void stepAhead(Duration step) {
        queue.storeClockOffset.addAndGet(TimeUnit.MILLISECONDS.toMicros(step.toMillis()));
    }

    private void holdByADeadNode(String id, Duration lease) {
        ShardKey shard = new ShardKey(TOPIC, 0);
        queue.memory.send(shard, List.of(message(id, DueTime.at(Instant.EPOCH))));
        Claim claim = new Claim("dead", ++deadClaims, 1, 1, lease, List.of());
        assertThat(queue.memory.claim(shard, claim).deliveries()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"NONE", "LOST_REQUEST", "LOST_REPLY"})
    void tellsOnceOfADeath(Fault fault) {
        queue.start(listener().retry(ONE_ATTEMPT), message -> {
            throw new IllegalStateException("no");
        });
        queue.line.once("fail", fault);
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(queue.events(DelayQueueEvent.Died.class)).hasSize(1);
        assertThat(queue.stats().dead()).isEqualTo(1);
    }

    @Test
    void tellsOfNoDeathWhenAnotherNodeHadTheMessageBeforeTheStoreWasTold() {
        failDuringAnOutage(listener().lease(Duration.ofSeconds(5)).retry(ONE_ATTEMPT));

        assertThat(queue.runs).hasSize(2);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
        assertThat(queue.events(DelayQueueEvent.Died.class)).isEmpty();
    }

    @Test
    void tellsOfNoSecondDeathWhenTheMessageDiedOfItsLostLease() {
        failDuringAnOutage(
                listener().lease(Duration.ofSeconds(5)).maxLeaseExpirations(1).retry(ONE_ATTEMPT));

        assertThat(queue.runs).hasSize(1);
        assertThat(queue.events(DelayQueueEvent.Died.class))
                .containsExactly(new DelayQueueEvent.Died(TOPIC, "a", ErrorNote.LEASE_LOST));
    }

    /** A node reports its failed run late: another node, whose runs succeed, has had the time to take the message over. */
    private void failDuringAnOutage(ListenerEndpoint.Builder endpoint) {
        queue.start(endpoint, message -> {
            queue.line.away();
            throw new IllegalStateException("no");
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));
        DelayQueueEngine other = queue.builder(queue.time.node(), queue.memory).build();
        queue.start(other, endpoint, message -> {});
        queue.time.advance(Duration.ofSeconds(30));
        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(10));
    }

    @Test
    void servesOtherShardsWhileOneDoesNotAnswer() {
        TestQueue sharded = new TestQueue(builder -> builder.shards(topic -> 2));
        sharded.start(listener(), message -> {});
        sharded.time.advance(Duration.ofSeconds(1));
        sharded.line.planByShard(shard -> shard.shard() == 0 ? Fault.LOST_REQUEST : Fault.NONE);
        for (int i = 0; i < 50; i++) {
            sharded.memory.send(new ShardKey(TOPIC, 1), List.of(message("m" + i, Duration.ofMillis(10L * i))));
        }
        sharded.time.advance(Duration.ofMillis(495));

        assertThat(sharded.runs).hasSize(50);
    }

    @Test
    void acknowledgesWithoutAPermitWhatAnUnansweredClaimPiggybacked() {
        TestQueue sharded = new TestQueue(builder -> builder.shards(topic -> 2));
        sharded.start(listener().lease(Duration.ofSeconds(5)).ackMode(AckMode.MANUAL), message -> {
            if (message.payload().equals("quick")) {
                // The claim that takes the acknowledgement along is lost, and the other shard has the only place.
                sharded.line.once("claim", Fault.LOST_REQUEST);
                message.acknowledgment().acknowledge();
            }
        });
        sharded.time.advance(MILLI);
        sharded.memory.send(new ShardKey(TOPIC, 0), List.of(message("quick", Duration.ZERO)));
        sharded.memory.send(new ShardKey(TOPIC, 1), List.of(message("slow", Duration.ofNanos(300_000))));
        sharded.time.advance(Duration.ofSeconds(60));

        assertThat(sharded.runIds()).containsExactly("quick", "slow");
        assertThat(sharded.memory.stats(new ShardKey(TOPIC, 0)).counters().acknowledged())
                .isEqualTo(1);
    }

    private static NewMessage message(String text, Duration delay) {
        return message(text, DueTime.after(delay));
    }

    private static NewMessage message(String text, DueTime due) {
        Bytes body = Bytes.of(text.getBytes(UTF_8));
        return new NewMessage(text, due, new Envelope(1, Map.of(), null, body).encode());
    }
}
