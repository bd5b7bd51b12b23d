package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueListener;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.engine.TestQueue.Run;
import io.easykit.delayqueue.store.Claimed;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeliveryTests {

    private static final Duration MILLI = Duration.ofMillis(1);

    private final TestQueue queue = new TestQueue();

    @Test
    void deliversAtTheDueTimeAndAcknowledges() {
        queue.start(listener(), message -> {});
        Instant sent = queue.time.now();

        queue.send("a", Duration.ofSeconds(30));
        queue.time.advance(Duration.ofMinutes(1));

        assertThat(queue.runs).hasSize(1);
        assertThat(queue.runs.get(0).payload()).isEqualTo("payload of a");
        assertThat(Duration.between(sent, queue.runs.get(0).at()))
                .isBetween(Duration.ofSeconds(30), Duration.ofSeconds(30).plusMillis(2));
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
        assertThat(queue.events(DelayQueueEvent.Delivered.class).get(0).lateness())
                .isLessThan(Duration.ofMillis(3));
        assertThat(queue.events(DelayQueueEvent.Completed.class)).hasSize(1);
    }

    @Test
    void deliversNothingEarlyAndAllWithinTwoMilliseconds() {
        Map<String, Instant> due = new HashMap<>();
        queue.start(listener().concurrency(50), message -> {});
        Random random = new Random(7);
        for (int i = 0; i < 300; i++) {
            Instant at = queue.time.now().plusMillis(random.nextInt(20_000));
            due.put("m" + i, at);
            queue.engine
                    .template()
                    .send(OutgoingMessage.of(TOPIC, "x").id("m" + i).at(at));
            queue.time.advance(Duration.ofMillis(random.nextInt(5)));
        }
        queue.time.advance(Duration.ofSeconds(30));

        assertThat(queue.runs).hasSize(300);
        for (Run run : queue.runs) {
            assertThat(Duration.between(due.get(run.id()), run.at())).isBetween(Duration.ZERO, Duration.ofMillis(6));
        }
    }

    /** Such as too little memory for the reply of a call that was carried out. */
    @Test
    void reportsNoAcknowledgementAsLateAfterAnErrorInAClaim() {
        AtomicBoolean failed = new AtomicBoolean();
        queue.start(listener().concurrency(1), message -> {});
        queue.time.advance(Duration.ofSeconds(2));
        queue.line.changeReplies(reply -> {
            if (reply instanceof Claimed claimed
                    && !claimed.acknowledged().isEmpty()
                    && failed.compareAndSet(false, true)) {
                throw new Error("Java heap space");
            }
            return reply;
        });

        IntStream.range(0, 5).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofSeconds(10));

        assertThat(failed).isTrue();
        assertThat(queue.runIds()).hasSize(5);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(5);
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).isEmpty();
    }

    /** The error comes when the claim has been answered, while its acknowledgement is concluded. */
    @Test
    void startsTheMessagesOfAClaimAlthoughItsAcknowledgementsCannotBeConcluded() {
        AtomicBoolean changed = new AtomicBoolean();
        ListenerContainer container = queue.start(listener().concurrency(1), message -> {});
        queue.time.advance(Duration.ofSeconds(2));
        queue.line.changeReplies(reply -> reply instanceof Claimed claimed
                        && !claimed.acknowledged().isEmpty()
                        && !claimed.deliveries().isEmpty()
                        && changed.compareAndSet(false, true)
                ? new Claimed(
                        claimed.now(),
                        claimed.status(),
                        claimed.nextDue(),
                        claimed.nextLeaseEnd(),
                        List.of(),
                        claimed.deliveries())
                : reply);

        IntStream.range(0, 5).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofSeconds(3));

        assertThat(changed).isTrue();
        assertThat(queue.runIds()).hasSize(5);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(5);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        queue.stop(container);
    }

    @Test
    void deliversOnTimeWhatIsSentLaterAndDueEarlier() {
        queue.start(listener(), message -> {});
        queue.send("far", Duration.ofHours(1));
        queue.time.advance(Duration.ofMillis(100));

        queue.send("near", Duration.ofMillis(300));
        queue.time.advance(Duration.ofMillis(302));

        assertThat(queue.runIds()).containsExactly("near");
    }

    @Test
    void deliversWithinASecondWhenTheWakeupIsLost() {
        queue.line.cutWakeups();
        queue.start(listener(), message -> {});
        queue.send("far", Duration.ofHours(1));
        queue.time.advance(Duration.ofSeconds(5));

        queue.send("near", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(queue.runIds()).containsExactly("near");
    }

    /** Their consumers poll at the same time, and one place serves them one after the other. */
    @Test
    void deliversFromAllShardsWithinASecondWhenTheWakeupsAreLost() {
        TestQueue sharded = new TestQueue(builder -> builder.shards(topic -> 8));
        sharded.line.cutWakeups();
        sharded.start(
                listener().concurrency(1).ackMode(AckMode.MANUAL),
                message ->
                        sharded.node.after(MILLI, () -> message.acknowledgment().acknowledge()));
        sharded.time.advance(Duration.ofSeconds(5));

        IntStream.range(0, 40).forEach(i -> sharded.send("m" + i, Duration.ZERO));
        sharded.time.advance(Duration.ofMillis(1_050));

        assertThat(sharded.runIds()).hasSize(40).doesNotHaveDuplicates();
    }

    @Test
    void takesNoPermitForTheTimeOfAnAcknowledgement() {
        TestQueue sharded = new TestQueue(builder -> builder.shards(topic -> 2));
        Map<String, Acknowledgment> running = new HashMap<>();
        sharded.start(
                listener().concurrency(1).ackMode(AckMode.MANUAL),
                message -> running.put(message.id(), message.acknowledgment()));
        List<String> own = idsIn(1);
        sharded.send(idsIn(0).get(0), Duration.ZERO);
        sharded.time.advance(MILLI);
        own.forEach(id -> sharded.send(id, Duration.ZERO));
        sharded.time.advance(MILLI);
        List<String> ranMeanwhile = new ArrayList<>();
        sharded.line.planCall((method, shard) -> {
            if (method.equals("acknowledge") && shard.shard() == 0) {
                sharded.time.advance(MILLI);
                ranMeanwhile.addAll(sharded.runIds());
                running.get(ranMeanwhile.get(1)).acknowledge();
                sharded.time.advance(MILLI);
                ranMeanwhile.addAll(sharded.runIds().subList(2, sharded.runs.size()));
            }
            return Fault.NONE;
        });

        running.get(idsIn(0).get(0)).acknowledge();
        sharded.time.advance(MILLI);

        assertThat(ranMeanwhile).hasSize(3).containsAll(own);
    }

    private static List<String> idsIn(int shard) {
        return IntStream.range(0, 100)
                .mapToObj(i -> "m" + i)
                .filter(id -> MessageIds.shardOf(id, 2, 2) == shard)
                .limit(2)
                .toList();
    }

    @Test
    void asksAboutOnceASecondWhenIdle() {
        queue.start(listener(), message -> {});
        queue.send("far", Duration.ofHours(1));
        queue.time.advance(Duration.ofSeconds(1));
        queue.line.takeCalls();

        queue.time.advance(Duration.ofSeconds(100));

        assertThat(queue.line.takeCalls())
                .hasSizeLessThan(110)
                .containsOnly("claim", "repair", "declare", "running", "stats");
    }

    @Test
    void claimsNoMoreThanItHasFreePermitsFor() {
        List<Acknowledgment> running = new ArrayList<>();
        queue.start(
                listener().concurrency(3).ackMode(AckMode.MANUAL), message -> running.add(message.acknowledgment()));
        IntStream.range(0, 10).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(MILLI);

        assertThat(running).hasSize(3);
        assertThat(queue.stats().inFlight()).isEqualTo(3);

        running.get(1).acknowledge();
        queue.time.advance(MILLI);

        assertThat(running).hasSize(4);
        assertThat(queue.stats().inFlight()).isEqualTo(3);
    }

    @Test
    void runsAThousandDueAtOnceWithOneWorkerOfAHundredMillisecondsAndTheDefaultLease() {
        IntStream.range(0, 1000).forEach(i -> queue.send("m" + i, Duration.ofSeconds(1)));
        queue.start(
                listener().ackMode(AckMode.MANUAL),
                message -> queue.node.after(
                        Duration.ofMillis(100), () -> message.acknowledgment().acknowledge()));
        queue.time.advance(Duration.ofSeconds(102));

        assertThat(queue.runIds()).hasSize(1000).doesNotHaveDuplicates();
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1000);
        assertThat(queue.stats().counters().leaseExpirations()).isZero();
        assertThat(queue.stats().dead()).isZero();
    }

    @Test
    void acknowledgesInTheTripOfTheNextClaim() {
        IntStream.range(0, 100).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.start(listener().concurrency(10), message -> {});
        queue.time.advance(MILLI);

        List<String> calls = queue.line.takeCalls();
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(100);
        assertThat(Collections.frequency(calls, "acknowledge")).isZero();
        assertThat(Collections.frequency(calls, "claim")).isLessThanOrEqualTo(12);
    }

    @Test
    void gathersWhatEndsOneAfterTheOtherForOneTrip() {
        IntStream.range(0, 80).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.start(
                listener().concurrency(8).ackMode(AckMode.MANUAL),
                message -> queue.node.after(
                        Duration.ofNanos(10_000L * (queue.runs.size() % 8 + 1)),
                        () -> message.acknowledgment().acknowledge()));
        queue.time.advance(Duration.ofMillis(10));

        assertThat(queue.stats().counters().acknowledged()).isEqualTo(80);
        assertThat(Collections.frequency(queue.line.takeCalls(), "claim")).isLessThanOrEqualTo(12);
    }

    @Test
    void servesAllShardsOfATopicFairly() {
        TestQueue sharded = new TestQueue(builder -> builder.shards(topic -> 4));
        List<OutgoingMessage> messages = IntStream.range(0, 800)
                .mapToObj(i -> OutgoingMessage.of(TOPIC, "x"))
                .toList();
        sharded.engine.template().sendAll(messages);
        sharded.start(
                listener().concurrency(2).ackMode(AckMode.MANUAL),
                message ->
                        sharded.node.after(MILLI, () -> message.acknowledgment().acknowledge()));
        sharded.time.advance(Duration.ofMillis(200));

        for (ShardStats shard : sharded.engine.stats(TOPIC).shards()) {
            assertThat(shard.counters().acknowledged()).isBetween(80L, 120L);
        }
    }

    @Test
    void givesABatchToOneCall() {
        List<List<String>> calls = new ArrayList<>();
        ListenerContainer container = queue.engine.batchContainer(
                listener().batchSize(4).build(),
                (List<DelayMessage<String>> messages) ->
                        calls.add(messages.stream().map(DelayMessage::id).toList()));
        IntStream.range(0, 6).forEach(i -> queue.send("m" + i, Duration.ZERO));
        container.start();
        queue.time.advance(MILLI);

        // The first claim is only a poll with one permit. It has room for a whole call as well.
        assertThat(calls).containsExactly(List.of("m0", "m1", "m2", "m3"), List.of("m4", "m5"));
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(6);
    }

    @Test
    void failsOnlyTheOpenOnesOfABatch() {
        ListenerContainer container =
                queue.engine.batchContainer(listener().batchSize(3).build(), (List<DelayMessage<String>> messages) -> {
                    messages.get(0).acknowledgment().acknowledge();
                    messages.get(1).acknowledgment().reject(new IllegalStateException("never"));
                    throw new IllegalStateException("the rest");
                });
        IntStream.range(0, 3).forEach(i -> queue.send("m" + i, Duration.ZERO));
        container.start();
        queue.time.advance(MILLI);

        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
        assertThat(queue.find("m1").state()).isEqualTo(MessageInfo.State.DEAD);
        assertThat(queue.find("m2").state()).isEqualTo(MessageInfo.State.WAITING);
        container.beginStop();
    }

    @Test
    void refusesAHandlerOfOneMessageForABatch() {
        assertThatThrownBy(() -> queue.engine.container(listener().batchSize(2).build(), message -> {}))
                .hasMessageContaining("give it a batch handler");
    }

    @Test
    void claimsNothingWhilePausedAndGoesOnAtOnce() {
        ListenerContainer container = queue.start(listener(), message -> {});
        container.pause();
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.runs).isEmpty();

        container.resume();
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(queue.runIds()).containsExactly("a");
    }

    @Test
    void claimsNothingWhileTheStoreIsPausedAndGoesOnWithTheWakeup() {
        queue.start(listener(), message -> {});
        queue.memory.pause(new ShardKey(TOPIC, 0), "ops");
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(10));
        assertThat(queue.runs).isEmpty();

        queue.memory.resume(new ShardKey(TOPIC, 0));
        queue.time.advance(MILLI);
        assertThat(queue.runIds()).containsExactly("a");
    }

    @Test
    void givesTheHandlerEverythingThatIsKnownOfTheMessage() {
        List<DelayMessage<String>> seen = new ArrayList<>();
        queue.start(listener(), seen::add);
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "text")
                        .id("a")
                        .header("tenant", "x")
                        .after(MILLI));
        queue.time.advance(Duration.ofSeconds(1));

        DelayMessage<String> message = seen.get(0);
        assertThat(message.topic()).isEqualTo(TOPIC);
        assertThat(message.headers()).containsExactly(Map.entry("tenant", "x"));
        assertThat(message.attempt()).isEqualTo(1);
        assertThat(message.uniqueId()).startsWith("a/");
        assertThat(message.due()).isAfter(Instant.EPOCH);
    }

    @Test
    void keepsTheUniqueIdOverAttemptsAndChangesItWithTheNextIncarnation() {
        List<String> ids = new ArrayList<>();
        queue.start(listener().retry(RetryPolicy.fixed(2, MILLI)), message -> {
            ids.add(message.uniqueId());
            if (message.attempt() == 1) {
                throw new IllegalStateException();
            }
        });
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(1));

        assertThat(ids).hasSize(4);
        assertThat(ids.get(0)).isEqualTo(ids.get(1)).isNotEqualTo(ids.get(2));
    }

    @Test
    void survivesListenersThatThrow() {
        TestQueue broken = new TestQueue(builder -> builder.listener(new DelayQueueListener() {
            @Override
            public void onEvent(DelayQueueEvent event) {
                throw new IllegalStateException("listener");
            }
        }));
        broken.start(listener(), message -> {});
        broken.send("a", Duration.ZERO);
        broken.time.advance(MILLI);

        assertThat(broken.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void asksForListenersUntilTheyAreThere() {
        AtomicBoolean there = new AtomicBoolean();
        List<DelayQueueEvent> told = new ArrayList<>();
        TestQueue later = new TestQueue(builder -> builder.listeners(() -> {
            if (!there.get()) {
                throw new IllegalStateException("not yet");
            }
            return List.of(new DelayQueueListener() {
                @Override
                public void onSent(DelayQueueEvent.Sent event) {
                    told.add(event);
                }
            });
        }));
        later.send("a", Duration.ZERO);
        there.set(true);
        later.send("b", Duration.ZERO);

        assertThat(told).hasSize(1);
    }
}
