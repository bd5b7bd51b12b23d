package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.easykit.delayqueue.BatchCancelException;
import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BatchCancelTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private final TestQueue queue = new TestQueue(builder -> builder.shards(topic -> 3));
    private final DelayQueueTemplate template = queue.engine.template();

    private List<String> send(int count) {
        List<String> ids = IntStream.range(0, count).mapToObj(i -> "m" + i).toList();
        ids.forEach(id -> queue.send(id, HOUR));
        return ids;
    }

    @Test
    void returnsTheOutcomesInTheOrderOfTheIds() {
        List<String> ids = new ArrayList<>(send(250));
        ids.add(100, "never sent");
        ids.add("m7");

        var outcomes = template.cancelAll(TOPIC, ids);

        assertThat(outcomes.keySet()).containsExactlyElementsOf(ids.subList(0, 251));
        assertThat(outcomes).containsEntry("never sent", ChangeOutcome.GONE).containsEntry("m7", ChangeOutcome.APPLIED);
        assertThat(outcomes.values().stream().filter(ChangeOutcome.APPLIED::equals))
                .hasSize(250);
        assertThat(queue.engine.stats(TOPIC).waiting()).isZero();
    }

    @Test
    void cancelsAHundredMessagesOfAShardInOneCall() {
        TestQueue one = new TestQueue();
        List<String> ids = IntStream.range(0, 250).mapToObj(i -> "m" + i).toList();
        ids.forEach(id -> one.send(id, HOUR));
        one.line.takeCalls();

        assertThat(one.engine.template().cancelAll(TOPIC, ids)).hasSize(250);

        assertThat(one.line.takeCalls()).filteredOn("cancel"::equals).hasSize(3);
    }

    @Test
    void cancelsNothingWithoutIds() {
        assertThat(template.cancelAll(TOPIC, List.of())).isEmpty();
        assertThat(queue.line.takeCalls()).doesNotContain("cancel");
    }

    @Test
    void refusesIdsThatNoMessageHas() {
        send(1);
        List<String> withNull = new ArrayList<>(List.of("m0"));
        withNull.add(null);

        assertThatThrownBy(() -> template.cancelAll(TOPIC, withNull)).hasMessageContaining("id that is null");
        assertThatThrownBy(() -> template.cancelAll(TOPIC, List.of("m0", ""))).hasMessageContaining("1 to 512");
        assertThatThrownBy(() -> template.cancelAll("no such topic!", List.of("m0")))
                .hasMessageContaining("not usable");
        assertThat(queue.engine.stats(TOPIC).waiting()).isEqualTo(1);
    }

    @Test
    void returnsTheKnownOutcomesOfTheOtherShardsIfOneDoesNotAnswer() {
        List<String> ids = send(30);
        queue.line.planByShard(shard -> shard.shard() == 0 ? Fault.LOST_REPLY : Fault.NONE);

        assertThatThrownBy(() -> template.cancelAll(TOPIC, ids))
                .isInstanceOfSatisfying(BatchCancelException.class, e -> {
                    assertThat(e.unknown()).isNotEmpty().allMatch(id -> MessageIds.shardOf(id, 3, 3) == 0);
                    assertThat(e.outcomes()).hasSize(30 - e.unknown().size()).allSatisfy((id, outcome) -> {
                        assertThat(MessageIds.shardOf(id, 3, 3)).isNotZero();
                        assertThat(outcome).isEqualTo(ChangeOutcome.APPLIED);
                    });
                })
                .hasMessageContaining("Cancel those again");

        queue.line.planByShard(shard -> Fault.NONE);
        assertThat(template.cancelAll(TOPIC, ids).values()).containsOnly(ChangeOutcome.GONE);
        assertThat(queue.engine.stats(TOPIC).waiting()).isZero();
    }

    /** Even the number of shards is not known then. */
    @Test
    void aNodeThatHasHadNoReplyYetKnowsNoOutcome() {
        List<String> ids = send(10);
        queue.line.hang(queue.time, Duration.ofMillis(250));
        DelayQueueEngine fresh =
                queue.builder(queue.time.node(), queue.line.asStore()).build();

        assertThatThrownBy(() -> fresh.template().cancelAll(TOPIC, ids))
                .isInstanceOfSatisfying(
                        BatchCancelException.class, e -> assertThat(e.unknown()).containsExactlyElementsOf(ids));
    }

    @Test
    void theExceptionSurvivesSerialization() throws Exception {
        List<String> ids = send(30);
        queue.line.planByShard(shard -> shard.shard() == 0 ? Fault.LOST_REPLY : Fault.NONE);
        BatchCancelException thrown =
                catchThrowableOfType(BatchCancelException.class, () -> template.cancelAll(TOPIC, ids));

        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(thrown);
        }
        BatchCancelException copy;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            copy = (BatchCancelException) in.readObject();
        }

        assertThat(copy.outcomes()).isEqualTo(thrown.outcomes());
        assertThat(copy.unknown()).isEqualTo(thrown.unknown());
    }

    /** A store that lets each call wait in vain costs the caller two of them. */
    @Test
    void waitsForASilentStoreTwiceAtMost() {
        List<String> ids = send(1_000);
        queue.line.hang(queue.time, Duration.ofMillis(250));
        Instant begin = queue.time.now();

        assertThatThrownBy(() -> template.cancelAll(TOPIC, ids))
                .isInstanceOfSatisfying(
                        BatchCancelException.class, e -> assertThat(e.unknown()).containsExactlyElementsOf(ids));

        assertThat(Duration.between(begin, queue.time.now())).isLessThanOrEqualTo(Duration.ofMillis(501));
    }
}
