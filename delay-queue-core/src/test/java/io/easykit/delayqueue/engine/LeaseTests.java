package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.easykit.delayqueue.AckMode;
import io.easykit.delayqueue.Acknowledgment;
import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.store.Failure;
import io.easykit.delayqueue.store.Lease;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.StoredMessage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LeaseTests {

    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration MILLI = Duration.ofMillis(1);

    private final TestQueue queue = new TestQueue();
    private final List<Acknowledgment> running = new ArrayList<>();

    private ListenerEndpoint.Builder manual() {
        return listener().lease(LEASE).ackMode(AckMode.MANUAL).maxLeaseExpirations(3);
    }

    @Test
    void runsAHandlerOnceThatTakesTenTimesItsLease() {
        queue.start(
                manual(),
                message -> queue.node.after(
                        LEASE.multipliedBy(10), () -> message.acknowledgment().acknowledge()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(LEASE.multipliedBy(12));

        queue.assertEachRanOnce(1);
    }

    @Test
    void renewsAllLeasesOfAShardInOneCallAfterAThirdOfTheirTime() {
        queue.start(manual().concurrency(50), message -> running.add(message.acknowledgment()));
        for (int i = 0; i < 50; i++) {
            queue.send("m" + i, Duration.ZERO);
        }
        queue.time.advance(MILLI);
        queue.line.takeCalls();

        queue.time.advance(LEASE);

        assertThat(queue.line.takeCalls().stream().filter("extend"::equals)).hasSize(3);
    }

    @Test
    void takesTheMessagesOfADeadNodeWithinASecondOfTheLease() {
        queue.start(manual(), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        assertThat(running).hasSize(1);
        SimulatedTime.Node other = queue.time.node();
        DelayQueueEngine survivor = queue.builder(other, queue.memory).build();
        queue.start(survivor, manual(), message -> {});

        queue.node.kill();
        queue.time.advance(LEASE.plusSeconds(1));

        assertThat(queue.runIds()).containsExactly("a", "a");
        assertThat(queue.history("a").leaseExpirations()).isEqualTo(1);
        assertThat(queue.history("a").failures()).isZero();
        assertThat(queue.events(DelayQueueEvent.LeaseExpired.class)).hasSize(1);
    }

    @Test
    void tellsAHandlerWhoseNodeWasPausedBeyondItsLease() {
        queue.start(manual(), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        SimulatedTime.Node other = queue.time.node();
        DelayQueueEngine survivor = queue.builder(other, queue.memory).build();
        queue.node.freeze();
        List<Acknowledgment> elsewhere = new ArrayList<>();
        queue.start(survivor, manual(), message -> elsewhere.add(message.acknowledgment()));
        queue.time.advance(LEASE.plusSeconds(1));
        assertThat(elsewhere).hasSize(1);

        queue.node.thaw();
        queue.time.advance(MILLI);
        assertThat(running.get(0).isLost()).isTrue();
        assertThat(queue.events(DelayQueueEvent.LeaseLost.class)).hasSize(1);

        running.get(0).acknowledge();
        queue.time.advance(MILLI);
        assertThat(queue.find("a").state()).isEqualTo(State.IN_FLIGHT);
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).hasSize(1);
        assertThat(queue.events(DelayQueueEvent.Completed.class)).isEmpty();
        assertThat(elsewhere.get(0).isLost()).isFalse();
    }

    @Test
    void reportsTheResultOfALostRunOnceTheStoreHasAppliedIt() {
        loseTheLeaseByItsOwnClock();

        running.get(0).acknowledge();
        queue.time.advance(MILLI);
        assertThat(queue.events(DelayQueueEvent.Completed.class)).isEmpty();

        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(queue.events(DelayQueueEvent.LeaseLost.class)).hasSize(1);
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).isEmpty();
        assertThat(queue.events(DelayQueueEvent.Completed.class))
                .singleElement()
                .satisfies(event -> assertThat(event.runtime()).isEqualTo(LEASE.multipliedBy(2)));
    }

    @Test
    void reportsTheFailureOfALostRunOnceItsDeathIsFoundAfterALostReply() {
        loseTheLeaseByItsOwnClock();

        running.get(0).reject(new IllegalStateException("closed"));
        queue.time.advance(MILLI);
        assertThat(queue.events(DelayQueueEvent.Failed.class)).isEmpty();

        queue.line.heal();
        queue.line.once("fail", FaultyStore.Fault.LOST_REPLY);
        queue.time.advance(Duration.ofSeconds(5));
        assertThat(queue.events(DelayQueueEvent.Failed.class)).hasSize(1);
        assertThat(queue.events(DelayQueueEvent.Died.class)).hasSize(1);
    }

    private void loseTheLeaseByItsOwnClock() {
        queue.start(manual(), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.line.away();
        queue.time.advance(LEASE.multipliedBy(2));
        assertThat(running.get(0).isLost()).isTrue();
    }

    @Test
    void interruptsAHandlerWhoseLeaseCouldNotBeRenewed() {
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean interrupted = new AtomicBoolean();
        AtomicBoolean told = new AtomicBoolean();
        TestQueue real = new TestQueue(builder -> builder.workers(task -> new Thread(task).start()));
        real.start(listener().lease(LEASE), message -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                told.set(message.acknowledgment().isLost());
                interrupted.set(true);
                throw e;
            }
        });
        real.send("a", Duration.ZERO);
        real.time.advance(MILLI);
        await().until(() -> begun.getCount() == 0);

        real.line.away();
        real.time.advance(LEASE.minusMillis(100));
        assertThat(real.events(DelayQueueEvent.LeaseLost.class)).isEmpty();
        real.time.advance(Duration.ofMillis(200));

        await().untilTrue(interrupted);
        assertThat(told).isTrue();
    }

    @Test
    void interruptsABatchOfWhichOneIsAcknowledgedAndTheOtherIsLost() {
        AtomicBoolean begun = new AtomicBoolean();
        AtomicBoolean interrupted = new AtomicBoolean();
        TestQueue real = new TestQueue(builder -> builder.workers(task -> new Thread(task).start()));
        real.engine
                .batchContainer(listener().lease(LEASE).batchSize(2).build(), (List<DelayMessage<String>> messages) -> {
                    messages.get(0).acknowledgment().acknowledge();
                    begun.set(true);
                    try {
                        new CountDownLatch(1).await();
                    } finally {
                        interrupted.set(true);
                    }
                })
                .start();
        real.send("a", Duration.ZERO);
        real.send("b", Duration.ZERO);
        real.time.advance(MILLI);
        await().untilTrue(begun);

        real.line.away();
        real.time.advance(LEASE.plusMillis(100));

        await().untilTrue(interrupted);
    }

    @Test
    void tellsAHandlerWithinAThirdOfTheLeaseWhenTheStoreSaysThatItIsLost() {
        queue.start(manual(), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        Lease lease = new Lease("a", queue.history("a").number());
        queue.memory.fail(new ShardKey(TOPIC, 0), List.of(new Failure(lease, null, "by hand")));
        assertThat(running.get(0).isLost()).isFalse();

        queue.time.advance(LEASE.dividedBy(3).plus(MILLI));
        assertThat(running.get(0).isLost()).isTrue();

        running.get(0).acknowledge();
        queue.time.advance(MILLI);
        assertThat(queue.find("a").state()).isEqualTo(State.DEAD);
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).hasSize(1);
    }

    @Test
    void beginsNothingWhoseLeaseHasEndedWhileTheNodeStoodStill() {
        SimulatedTime.Node slow = queue.time.node();
        DelayQueueEngine late = queue.builder(slow, queue.memory)
                .workers(slow.workers(Duration.ofMillis(5)))
                .build();
        List<String> begun = new ArrayList<>();
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.start(late, manual(), message -> begun.add("late"));
        queue.time.advance(MILLI);
        assertThat(queue.stats().inFlight()).isEqualTo(1);

        slow.freeze();
        queue.start(manual(), message -> begun.add("elsewhere"));
        queue.time.advance(LEASE.plusSeconds(1));
        slow.thaw();
        queue.time.advance(MILLI);

        assertThat(begun).containsExactly("elsewhere");
        assertThat(queue.find("a").state()).isEqualTo(State.IN_FLIGHT);
    }

    /** There is no handler to interrupt, and nothing was done in vain. */
    @Test
    void reportsNoLostLeaseOfARunThatNeverBegan() {
        SimulatedTime.Node slow = queue.time.node();
        DelayQueueEngine late = queue.builder(slow, queue.line.asStore())
                .workers(slow.workers(LEASE.multipliedBy(3)))
                .build();
        List<String> begun = new ArrayList<>();
        queue.send("a", Duration.ZERO);
        queue.start(late, manual(), message -> begun.add("late"));
        queue.time.advance(MILLI);
        assertThat(queue.stats().inFlight()).isEqualTo(1);

        queue.line.away();
        queue.time.advance(LEASE.multipliedBy(2));
        queue.line.heal();
        queue.time.advance(LEASE.multipliedBy(2).minus(MILLI));

        assertThat(queue.stats().counters().failed()).isZero();
        assertThat(queue.events(DelayQueueEvent.LeaseLost.class)).isEmpty();
        assertThat(begun).isEmpty();
    }

    @Test
    void givesBackAtNoCostWhatWasLostOnlyByItsOwnClock() {
        queue.start(listener().lease(LEASE).ackMode(AckMode.MANUAL), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.line.away();
        queue.time.advance(LEASE.multipliedBy(2));
        assertThat(running.get(0).isLost()).isTrue();

        // The handler has done its work nevertheless, and no other run has begun: its acknowledgement counts.
        running.get(0).acknowledge();
        queue.line.heal();
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(queue.runs).hasSizeLessThanOrEqualTo(2);
        assertThat(queue.stats().counters().sent()).isEqualTo(1);
        assertThat(queue.stats().imbalance()).isZero();
    }

    @Test
    void buriesAMessageThatKillsItsNodeEachTime() {
        queue.node.kill();
        for (int i = 0; i < 3; i++) {
            SimulatedTime.Node victim = queue.time.node();
            queue.start(queue.builder(victim, queue.memory).build(), manual(), message -> {
                throw new SimulatedTime.Killed();
            });
            if (i == 0) {
                queue.send("poison", Duration.ZERO);
            }
            queue.time.advanceUntil(LEASE.multipliedBy(3), "it runs", () -> queue.runs.size() > 0);
            assertThat(victim.isAlive()).isFalse();
            queue.runs.clear();
            queue.time.advance(LEASE);
        }
        SimulatedTime.Node last = queue.time.node();
        queue.start(queue.builder(last, queue.memory).build(), manual(), message -> {});
        queue.time.advance(LEASE.plusSeconds(1));

        StoredMessage dead = queue.find("poison");
        assertThat(dead.state()).isEqualTo(State.DEAD);
        assertThat(queue.lastError("poison")).isEqualTo(MessageInfo.ErrorNote.LEASE_LOST);
        assertThat(queue.events(DelayQueueEvent.Died.class)).hasSize(1);
    }

    @Test
    void givesNoSecondRunToAMessageWhoseRenewalAnswerWasLost() {
        queue.start(
                manual(),
                message -> queue.node.after(
                        LEASE.multipliedBy(4), () -> message.acknowledgment().acknowledge()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.line.once("extend", FaultyStore.Fault.LOST_REPLY);
        queue.time.advance(LEASE.multipliedBy(5));

        assertThat(queue.runs).hasSize(1);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }

    @Test
    void changesNothingByALateAcknowledgementOfAnEarlierIncarnation() {
        queue.start(manual(), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.node.freeze();
        queue.time.advance(LEASE.plus(MILLI));
        ShardKey shard = new ShardKey(TOPIC, 0);
        queue.memory.reap(shard, 1, 5, Duration.ZERO);
        DelayQueueEngine other = queue.builder(queue.time.node(), queue.memory).build();
        ListenerContainer second = queue.start(other, listener(), message -> {});
        queue.time.advance(MILLI);
        queue.stop(second);
        other.template().send(OutgoingMessage.of(TOPIC, "next life").id("a").after(Duration.ofHours(1)));

        queue.node.thaw();
        running.get(0).acknowledge();
        queue.time.advance(MILLI);

        assertThat(queue.find("a").state()).isEqualTo(State.WAITING);
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).hasSize(1);
    }

    @Test
    void changesNothingByALateAcknowledgementFromBeforeARedrive() {
        queue.start(manual().maxLeaseExpirations(1), message -> running.add(message.acknowledgment()));
        queue.send("a", Duration.ZERO);
        queue.time.advance(MILLI);
        queue.node.freeze();
        queue.time.advance(LEASE.plus(MILLI));
        ShardKey shard = new ShardKey(TOPIC, 0);
        queue.memory.reap(shard, 1, 1, Duration.ZERO);
        Instant diedAt = queue.find("a").at();
        DelayQueueEngine other = queue.builder(queue.time.node(), queue.memory).build();
        assertThat(other.admin().redrive(TOPIC, "a", diedAt)).isTrue();
        List<Acknowledgment> second = new ArrayList<>();
        queue.start(other, manual().maxLeaseExpirations(1), message -> second.add(message.acknowledgment()));
        queue.time.advance(MILLI);
        assertThat(second).hasSize(1);

        queue.node.thaw();
        running.get(0).acknowledge();
        queue.time.advance(MILLI);

        assertThat(queue.find("a").state()).isEqualTo(State.IN_FLIGHT);
        assertThat(queue.stats().counters().acknowledged()).isZero();
        assertThat(queue.events(DelayQueueEvent.SettledLate.class)).hasSize(1);

        second.get(0).acknowledge();
        queue.time.advance(MILLI);
        assertThat(queue.stats().counters().acknowledged()).isEqualTo(1);
    }
}
