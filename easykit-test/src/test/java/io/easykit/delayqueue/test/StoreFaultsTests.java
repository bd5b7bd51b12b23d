package io.easykit.delayqueue.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageHandler;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendResult.Replication;
import io.easykit.delayqueue.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreFaultsTests {

    private static final String TOPIC = "mails";

    private static final MessageHandler.Batch<String> NOTHING = messages -> {};

    private final DelayQueueTester queue = DelayQueueTester.create();

    @AfterEach
    void close() {
        queue.close();
    }

    private static ListenerEndpoint batches() {
        return ListenerEndpoint.builder(TOPIC, TOPIC, String.class).batchSize(3).build();
    }

    private void sendThree() {
        for (int i = 1; i <= 3; i++) {
            queue.template().send(TOPIC, "mail " + i);
        }
    }

    /** As those that a lost connection to Redis prevents: nothing is stored, so a repetition is safe. */
    @Test
    void repeatsSendsWithoutDelayUntilTheStoreIsBack() {
        queue.template().send(TOPIC, "declares the topic, which would be repeated in any case");
        queue.faults().storeAway();
        queue.time().schedule(Duration.ofSeconds(20), () -> queue.faults().heal());

        queue.template().send(OutgoingMessage.of(TOPIC, "now").sendTimeout(Duration.ofMinutes(1)));

        assertThat(queue).hasWaiting(TOPIC).withPayload("now");
    }

    @Test
    void reportsThatNothingIsStoredWhileTheStoreIsAway() {
        queue.faults().storeAway();

        assertThatThrownBy(() -> queue.template().send(TOPIC, "now"))
                .isInstanceOfSatisfying(StoreUnavailableException.class, e -> assertThat(e.isOutcomeUnknown())
                        .isFalse());
    }

    @Test
    void letsAssertionsReadWhileTheStoreIsAway() {
        queue.template().send(TOPIC, "stored");
        queue.faults().storeAway();

        assertThat(queue).hasNoMessages("others").hasWaiting(TOPIC).withPayload("stored");
        assertThatThrownBy(() -> queue.admin().stats(TOPIC)).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void deliversAllMessagesOfABatchAgainAfterACrash() {
        queue.listenBatch(batches(), NOTHING);
        sendThree();
        queue.faults().crashAfterNextHandler();

        queue.runDue();
        assertThat(queue).hasRunTimes(TOPIC, 3);

        queue.advance(Duration.ofMinutes(2));
        assertThat(queue).hasRunTimes(TOPIC, 6).hasNoMessages(TOPIC);
    }

    @Test
    void recordsTheRunsOfBatches() {
        List<Integer> sizes = new ArrayList<>();
        queue.listenBatch(batches(), (MessageHandler.Batch<String>) messages -> sizes.add(messages.size()));
        sendThree();

        queue.runDue();

        assertThat(sizes).containsExactly(3);
        assertThat(queue.runs())
                .extracting(HandlerRun::payload)
                .containsExactlyInAnyOrder("mail 1", "mail 2", "mail 3");
    }

    @Test
    void closesWithoutDelivering() {
        queue.listen(TOPIC, String.class, message -> {});
        queue.listen("others", String.class, message -> {});
        queue.runDue();
        queue.template().send(TOPIC, "sent before the end");
        queue.template().send("others", "sent before the end");

        queue.close();

        assertThat(queue).hasNotRun(TOPIC).hasNotRun("others").hasWaiting("others");
    }

    @Test
    void confirmsAsManyReplicasAsASendWaitsFor() {
        assertThat(replication(2)).isEqualTo(new Replication(2, 2));
    }

    private @Nullable Replication replication(int wanted) {
        return queue.template()
                .send(OutgoingMessage.of(TOPIC, "safe").waitForReplicas(wanted))
                .replication();
    }

    @Test
    void confirmsByAsManyReplicasAsATestAllows() {
        queue.faults().replicas(1);
        assertThat(replication(3)).isEqualTo(new Replication(3, 1));
        assertThat(replication(1)).isEqualTo(new Replication(1, 1));

        queue.reset();
        assertThat(replication(3)).isEqualTo(new Replication(3, 3));
        assertThatThrownBy(() -> queue.faults().replicas(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void endsScheduledTasksAtAReset() {
        List<String> ran = new ArrayList<>();
        queue.time().schedule(Duration.ofSeconds(10), () -> ran.add("of the test before"));

        queue.reset();
        queue.advance(Duration.ofMinutes(1));

        assertThat(ran).isEmpty();
    }
}
