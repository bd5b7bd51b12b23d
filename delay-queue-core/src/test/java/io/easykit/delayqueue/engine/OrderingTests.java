package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.admin.DelayQueueAdmin;
import io.easykit.delayqueue.admin.StoppedKey;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OrderingTests {

    private static final Duration NONE = Duration.ZERO;

    private final TestQueue queue = new TestQueue();

    private static OutgoingMessage message(String key, String payload) {
        return OutgoingMessage.of(TOPIC, payload).orderingKey(key);
    }

    private SendResult send(OutgoingMessage message) {
        return queue.engine.template().send(message);
    }

    private List<String> payloads() {
        return queue.runs.stream().map(TestQueue.Run::payload).toList();
    }

    private void startFailing(DeadKeyPolicy policy, String payload, int attempts) {
        queue.start(
                listener().deadKeyPolicy(policy).retry(RetryPolicy.fixed(attempts, Duration.ofMinutes(10))),
                message -> {
                    if (message.payload().equals(payload)) {
                        throw new IllegalStateException("no");
                    }
                });
    }

    @Test
    void messagesOfAKeyWaitForARetryWhileAllOthersRunOnTheOnlyPermit() {
        List.of("a1", "a2").forEach(payload -> send(message("a", payload)));
        send(message("b", "b1"));
        send(OutgoingMessage.of(TOPIC, "plain"));
        boolean[] isMended = new boolean[1];
        queue.start(listener().retry(RetryPolicy.fixed(9, Duration.ofMinutes(10))), message -> {
            if (message.payload().equals("a1") && !isMended[0]) {
                throw new IllegalStateException("no");
            }
        });

        queue.time.advance(Duration.ofMinutes(5));
        assertThat(payloads()).containsExactlyInAnyOrder("a1", "b1", "plain");

        isMended[0] = true;
        queue.time.advance(Duration.ofMinutes(6));
        assertThat(payloads()).hasSize(5).endsWith("a1", "a2");
    }

    @Test
    void aDeadLetterStopsItsKeyUntilAnOperatorFreesIt() {
        startFailing(DeadKeyPolicy.STOP, "a1", 1);
        List.of("a1", "a2", "a3").forEach(payload -> send(message("a", payload)));
        queue.time.advance(Duration.ofSeconds(5));
        assertThat(payloads()).containsExactly("a1");

        DelayQueueAdmin admin = queue.engine.admin();
        StoppedKey stopped = admin.stoppedKeys(TOPIC).get(0);
        assertThat(stopped).returns("a", StoppedKey::key).returns(2L, StoppedKey::parked);
        assertThat(admin.stats(TOPIC).stoppedKeys()).isEqualTo(1);
        assertThat(admin.stats(TOPIC).parked()).isEqualTo(2);
        assertThat(admin.freeKey(TOPIC, "b", stopped.id())).isFalse();
        assertThat(admin.freeKey(TOPIC, "a", stopped.id())).isTrue();

        queue.time.advance(Duration.ofSeconds(5));
        assertThat(payloads()).containsExactly("a1", "a2", "a3");
        assertThat(admin.stoppedKeys(TOPIC)).isEmpty();
        assertThat(queue.stats().dead()).isEqualTo(1);
    }

    @Test
    void theMessagesBehindADeadLetterRunAfterItsRedrive() {
        startFailing(DeadKeyPolicy.STOP, "a1", 1);
        send(message("a", "a1"));
        queue.time.advance(Duration.ofSeconds(5));
        send(message("a", "a2"));
        queue.time.advance(Duration.ofSeconds(5));
        assertThat(payloads()).containsExactly("a1");

        StoppedKey stopped = queue.engine.admin().stoppedKeys(TOPIC).get(0);
        queue.engine.admin().purge(TOPIC, stopped.id(), stopped.diedAt());
        queue.time.advance(Duration.ofSeconds(5));

        assertThat(payloads()).containsExactly("a1", "a2");
    }

    @Test
    void aDeadLetterSkipsItsKey() {
        startFailing(DeadKeyPolicy.SKIP, "a1", 1);
        List.of("a1", "a2").forEach(payload -> send(message("a", payload)));

        queue.time.advance(Duration.ofSeconds(5));

        assertThat(payloads()).containsExactly("a1", "a2");
        assertThat(queue.engine.admin().stoppedKeys(TOPIC)).isEmpty();
        assertThat(queue.stats().dead()).isEqualTo(1);
    }

    /** Those of equal due time: all of a list. */
    @Test
    void messagesOfEqualDueTimeRunInTheOrderOfSending() {
        List<String> payloads = IntStream.range(0, 250).mapToObj(i -> "a" + i).toList();
        queue.engine
                .template()
                .sendAll(payloads.stream()
                        .map(payload -> message("a", payload).after(Duration.ofSeconds(1)))
                        .toList());
        queue.start(listener().concurrency(8), message -> {});

        queue.time.advance(Duration.ofMinutes(1));

        assertThat(payloads()).isEqualTo(payloads);
    }

    @Test
    void anOwnIdIsComparedWithThoseOfItsKeyAndIsCancelledWithIt() {
        assertThat(send(message("a", "x").id("1").after(Duration.ofHours(1))).outcome())
                .isEqualTo(SendOutcome.STORED);
        assertThat(send(message("a", "x").id("1")).outcome()).isEqualTo(SendOutcome.DUPLICATE);
        assertThat(send(message("b", "x").id("1").after(Duration.ofHours(1))).outcome())
                .isEqualTo(SendOutcome.STORED);
        assertThat(queue.engine.template().cancel(TOPIC, "1")).isEqualTo(ChangeOutcome.GONE);
        assertThat(queue.engine.template().cancel(TOPIC, NameRules.orderedId("a", "1")))
                .isEqualTo(ChangeOutcome.APPLIED);
        SendResult generated = send(message("a", "y").after(Duration.ofHours(1)));
        assertThat(queue.engine.template().cancel(TOPIC, generated.id())).isEqualTo(ChangeOutcome.APPLIED);
        assertThat(queue.stats().waiting()).isEqualTo(1);
    }

    @Test
    void aMessageIsFoundAndChangedByItsKeyAndItsOwnId() {
        DelayQueueTemplate template = queue.engine.template();
        String whole =
                send(message("a", "x").id("1").after(Duration.ofHours(1))).id();
        Instant later = Instant.ofEpochMilli(1_800_000_000_000L);

        assertThat(DelayQueueTemplate.orderedId("a", "1")).isEqualTo(whole);
        assertThat(template.find(TOPIC, "b", "1")).isEmpty();
        assertThat(template.reschedule(TOPIC, "a", "1", Duration.ofHours(2))).isEqualTo(ChangeOutcome.APPLIED);
        assertThat(template.reschedule(TOPIC, "a", "1", later)).isEqualTo(ChangeOutcome.APPLIED);
        assertThat(template.find(TOPIC, "a", "1")).get().returns(later, MessageInfo::at);
        assertThat(template.cancel(TOPIC, "b", "1")).isEqualTo(ChangeOutcome.GONE);
        assertThat(template.cancel(TOPIC, "a", "1")).isEqualTo(ChangeOutcome.APPLIED);

        send(message("a", "x").id("2").after(Duration.ofHours(1)));
        template.cancelAfterCommit(TOPIC, "a", "2");
        assertThat(queue.stats().waiting()).isZero();
    }

    @Test
    void aWholeIdIsNoOwnIdOfAKey() {
        DelayQueueTemplate template = queue.engine.template();

        assertThatThrownBy(() -> template.cancel(TOPIC, "a", "~~a~1")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> template.find(TOPIC, "~~a~1", "a")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void allMessagesOfAKeyAreInOneShardAndTheListenerSeesTheKey() {
        int shard = MessageIds.shardOf(NameRules.orderedId("customer-7", "a"), 16, 16);
        for (int i = 0; i < 50; i++) {
            String id = MessageIds.generate("customer-7");
            assertThat(MessageIds.shardOf(id, 16, 16)).isEqualTo(shard);
            assertThat(NameRules.orderingKey(id)).isEqualTo("customer-7");
            assertThat(MessageIds.isMovable(id)).isFalse();
        }
        assertThat(MessageIds.isMovable(MessageIds.generate(3))).isTrue();
        assertThat(NameRules.orderingKey(MessageIds.generate(3))).isNull();
        assertThat(NameRules.orderingKey("~~~")).isNull();

        String[] seen = new String[1];
        send(message("customer-7", "x"));
        queue.start(listener(), message -> seen[0] = message.orderingKey());
        queue.time.advance(Duration.ofSeconds(1));
        assertThat(seen).containsExactly("customer-7");
    }

    @Test
    void anOrderingKeyHasToBeUsable() {
        for (String key : List.of("", " ", "a~b", "x".repeat(129), "\ud800")) {
            assertThatThrownBy(() -> message(key, "x"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is not usable: give it 1 to 128 bytes");
        }
        assertThat(message("x".repeat(128), "x").id("y".repeat(256)).after(NONE).orderingKey())
                .hasSize(128);
    }
}
