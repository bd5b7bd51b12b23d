package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.NotReplicatedException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendPhase;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.SendResult.Replication;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Sends that wait for replicas. The store has one, unless a test sets another number. */
class ReplicaWaitTests {

    private final TestTransactions transactions = new TestTransactions();
    private final TestQueue queue = new TestQueue(builder ->
            builder.transactions(transactions).replicaWaits(topic -> topic.equals(TOPIC) ? ReplicaWait.of(1) : null));
    private final DelayQueueTemplate template = queue.engine.template();

    ReplicaWaitTests() {
        queue.memory.replicas(1);
    }

    @AfterEach
    void close() {
        queue.engine.close();
    }

    @Test
    void waitForAsManyReplicasAsTheMessageOrItsTopicSays() {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "p");
        queue.send("warm", Duration.ZERO);
        queue.line.takeCalls();

        SendResult ofTopic = template.send(message);
        SendResult own = template.send(message.waitForReplicas(2));

        assertThat(ofTopic.replication()).isEqualTo(new Replication(1, 1));
        assertThat(ofTopic.isUnderReplicated()).isFalse();
        assertThat(own.replication()).isEqualTo(new Replication(2, 1));
        assertThat(own.isUnderReplicated()).isTrue();
        assertThat(own.outcome()).isEqualTo(SendOutcome.STORED);
        assertThat(queue.line.takeCalls()).containsExactly("sendReplicated", "sendReplicated");
    }

    @Test
    void doNotWaitUnlessTheyAreToldTo() {
        SendResult result = template.send(OutgoingMessage.of("other", "p"));

        assertThat(result.replication()).isNull();
        assertThat(result.isUnderReplicated()).isFalse();
        assertThat(queue.line.takeCalls()).contains("send").doesNotContain("sendReplicated");
    }

    @Test
    void goTogetherWithNeighboursThatWaitAlike() {
        OutgoingMessage message = OutgoingMessage.of(TOPIC, "p");
        queue.send("warm", Duration.ZERO);
        queue.line.takeCalls();

        List<SendResult> results = template.sendAll(
                List.of(message, message, message.waitForReplicas(2), message.waitForReplicas(2), message));

        assertThat(results)
                .extracting(SendResult::replication)
                .containsExactly(
                        new Replication(1, 1),
                        new Replication(1, 1),
                        new Replication(2, 1),
                        new Replication(2, 1),
                        new Replication(1, 1));
        assertThat(queue.line.takeCalls())
                .as("the last one does not overtake those before it")
                .containsExactly("sendReplicated", "sendReplicated", "sendReplicated");
    }

    @Test
    void areRepeatedAsOtherSendsWithoutStoringTwice() {
        queue.send("warm", Duration.ZERO);
        queue.line.once("sendReplicated", Fault.LOST_REPLY);

        SendResult result = template.send(
                OutgoingMessage.of(TOPIC, "p").after(Duration.ofHours(1)).sendTimeout(Duration.ofSeconds(5)));

        assertThat(result.outcome()).isEqualTo(SendOutcome.REPLAYED);
        assertThat(result.replication()).isEqualTo(new Replication(1, 1));
        assertThat(queue.stats().counters().sent()).isEqualTo(2);
    }

    @Test
    void rollBackATransactionBeforeItsCommitWhenReplicasAreMissing() {
        queue.memory.replicas(0);
        transactions.begin();
        SendResult pending = queue.send("a", Duration.ofHours(1));

        assertThatThrownBy(transactions::beginCommit)
                .isInstanceOfSatisfying(NotReplicatedException.class, e -> assertThat(e.results())
                        .containsExactly(new SendResult(TOPIC, "a", SendOutcome.STORED, new Replication(1, 0))))
                .hasMessageContaining("are stored")
                .hasMessageContaining("0 of 1");
        transactions.rollback();

        assertThat(pending.isPending()).isTrue();
        assertThat(queue.stats().counters().sent()).isOne();
        assertThat(queue.stats().waiting()).isZero();
    }

    @Test
    void keepTheMessageAfterTheCommitWhenReplicasAreMissing() {
        queue.memory.replicas(0);
        transactions.begin();
        template.send(
                OutgoingMessage.of(TOPIC, "p").phase(SendPhase.AFTER_COMMIT).after(Duration.ofHours(1)));
        transactions.beginCommit();

        assertThatThrownBy(transactions::finishCommit).isInstanceOf(NotReplicatedException.class);

        assertThat(queue.stats().waiting()).isOne();
    }

    @Test
    void refuseImpossibleWaits() {
        assertThatThrownBy(() -> OutgoingMessage.of(TOPIC, "p").waitForReplicas(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("give 1 to 100");
        assertThatThrownBy(() -> new ReplicaWait(1, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("give 1ms to 1m");
    }
}
