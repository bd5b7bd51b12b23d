package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ConsumerWatchTests {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final TestQueue queue = new TestQueue();
    private final List<DelayQueueEngine> senders =
            Stream.generate(this::sender).limit(3).toList();

    private DelayQueueEngine sender() {
        DelayQueueEngine engine = queue.builder(queue.time.node(), queue.memory)
                .noConsumerLimits(topic -> topic.equals(TOPIC) ? LIMIT : null)
                .build();
        engine.join();
        return engine;
    }

    private void eachSends(Duration delay) {
        senders.forEach(sender ->
                sender.template().send(OutgoingMessage.of(TOPIC, "text").after(delay)));
    }

    private List<DelayQueueEvent.AlertRaised> raised() {
        return queue.events(DelayQueueEvent.AlertRaised.class);
    }

    private List<DelayQueueEvent.AlertResolved> resolved() {
        return queue.events(DelayQueueEvent.AlertResolved.class);
    }

    @Test
    void tellsOnceForThreeNodesThatNobodyConsumesAndThatSomebodyDoesAgain() {
        eachSends(Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(115));
        assertThat(raised()).isEmpty();
        queue.time.advance(Duration.ofMinutes(10));
        assertThat(raised()).hasSize(1);
        assertThat(raised().get(0).kind()).isEqualTo(Kind.NO_CONSUMER);
        assertThat(raised().get(0).limit()).isEqualTo(LIMIT.toMillis());
        assertThat(queue.engine.stats(TOPIC).alerts()).containsExactly(Kind.NO_CONSUMER);

        queue.engine.join();
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(resolved()).containsExactly(new DelayQueueEvent.AlertResolved(TOPIC, Kind.NO_CONSUMER));
        assertThat(raised()).hasSize(1);
    }

    @Test
    void tellsNothingOfMessagesThatAreNotDue() {
        eachSends(Duration.ofDays(1));
        queue.time.advance(Duration.ofHours(1));

        assertThat(raised()).isEmpty();
    }

    @Test
    void countsAListenerThatIsPausedOnItsNodeAsNoneAndATopicThatIsPausedAsConsumed() {
        queue.engine.join();
        ListenerContainer container = queue.start(listener(), message -> {});
        queue.engine.fleet().pause(TOPIC, "ops");
        eachSends(Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(10));
        assertThat(raised()).isEmpty();

        container.pause();
        queue.time.advance(Duration.ofMinutes(10));
        assertThat(raised()).hasSize(1);
    }

    private DelayQueueEngine senderOf(FaultyStore line, int topics) {
        DelayQueueEngine engine = queue.builder(queue.time.node(), line.asStore())
                .noConsumerLimits(topic -> LIMIT)
                .build();
        engine.join();
        for (int i = 0; i < topics; i++) {
            engine.template().send(OutgoingMessage.of(String.format(Locale.ROOT, "topic-%02d", i), "text"));
        }
        return engine;
    }

    @Test
    void readsTheNodesOnceForAllTopics() {
        FaultyStore line = new FaultyStore(queue.memory);
        senderOf(line, 20);
        queue.time.advance(Duration.ofSeconds(5));
        line.takeCalls();
        queue.time.advance(Duration.ofMinutes(1));

        List<String> calls = line.takeCalls();
        assertThat(Collections.frequency(calls, "nodes"))
                .isEqualTo(Collections.frequency(calls, "beat"))
                .isBetween(5, 7);
    }

    @Test
    void raisesTheAlertAlthoughAShardDoesNotAnswer() {
        queue.memory.declare(TOPIC, 4);
        FaultyStore line = new FaultyStore(queue.memory);
        DelayQueueEngine engine = senderOf(line, 0);
        for (int i = 0; i < 40; i++) {
            engine.template().send(OutgoingMessage.of(TOPIC, "text").id("m" + i));
        }
        line.planByShard(shard -> shard.topic().equals(TOPIC) && shard.shard() == 2 ? Fault.LOST_REQUEST : Fault.NONE);
        queue.time.advance(Duration.ofMinutes(5));

        assertThat(raised()).extracting(DelayQueueEvent.AlertRaised::topic).containsExactly(TOPIC);
        assertThat(resolved()).isEmpty();
    }

    @Test
    void checksTheOtherTopicsAlthoughShardsOfSomeDoNotAnswer() {
        FaultyStore line = new FaultyStore(queue.memory);
        senderOf(line, 20);
        line.planByShard(shard -> switch (shard.topic()) {
            case "topic-00", "topic-05" -> Fault.LOST_REQUEST;
            case "topic-07" -> Fault.REFUSED;
            default -> Fault.NONE;
        });
        queue.time.advance(Duration.ofMinutes(4));

        assertThat(raised()).hasSize(17);
    }

    /** The sampler reads the topics of all nodes, on the node that was there first. */
    @Test
    void raisesTheAlertAlthoughTheStoreRefusesTheListOfTopics() {
        TestQueue first = new TestQueue(builder -> builder.noConsumerLimits(topic -> LIMIT));
        first.line.plan(method -> method.equals("topics") ? Fault.REFUSED : Fault.NONE);
        first.engine.join();
        first.send("a", Duration.ZERO);
        first.time.advance(Duration.ofMinutes(4));

        assertThat(first.events(DelayQueueEvent.AlertRaised.class)).hasSize(1);
    }

    /** Messages may be due in the shard that is refused. */
    @Test
    void doesNotTakeAShardThatIsRefusedForConsumed() {
        queue.memory.declare(TOPIC, 2);
        FaultyStore line = new FaultyStore(queue.memory);
        senders.forEach(DelayQueueEngine::close);
        DelayQueueEngine watching = queue.builder(queue.time.node(), line.asStore())
                .noConsumerLimits(topic -> LIMIT)
                .build();
        watching.join();
        for (int i = 0; queue.memory.stats(new ShardKey(TOPIC, 1)).waiting() == 0; i++) {
            String id = "m" + i;
            watching.template().send(OutgoingMessage.of(TOPIC, "text").id(id));
            if (queue.memory.stats(new ShardKey(TOPIC, 0)).waiting() > 0) {
                watching.template().cancel(TOPIC, id);
            }
        }
        queue.time.advance(Duration.ofMinutes(3));
        assertThat(raised()).hasSize(1);

        line.planCall((method, shard) -> shard.shard() == 1 ? Fault.REFUSED : Fault.NONE);
        queue.time.advance(Duration.ofMinutes(3));
        assertThat(resolved()).isEmpty();

        queue.start(watching, listener(), message -> {});
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(resolved()).hasSize(1);
    }

    /** Heartbeats are on time with any number of topics and shards, and each topic has its turn. */
    @Test
    void takesABoundedTime() {
        FaultyStore line = new FaultyStore(queue.memory);
        DelayQueueEngine slow = senderOf(line, 30);
        queue.time.advance(Duration.ofSeconds(1));
        line.plan(method -> {
            if (method.equals("stats")) {
                queue.time.advance(Duration.ofMillis(200));
            }
            return Fault.NONE;
        });
        line.takeCalls();
        queue.time.advance(Duration.ofMinutes(4));
        List<String> calls = line.takeCalls();

        assertThat(Collections.frequency(calls, "beat")).isBetween(19, 24);
        assertThat(raised()).hasSize(30);
        assertThat(slow.fleet().nodes()).hasSize(4);
    }

    @Test
    void noticesThatTheLastConsumerWasKilled() {
        SimulatedTime.Node doomed = queue.time.node();
        DelayQueueEngine consumer = queue.builder(doomed, queue.memory).build();
        consumer.join();
        queue.start(consumer, listener(), message -> {});
        eachSends(Duration.ofMinutes(5));
        queue.time.advance(Duration.ofMinutes(4));
        doomed.kill();
        queue.time.advance(Duration.ofMinutes(2));
        assertThat(raised()).isEmpty();
        queue.time.advance(Duration.ofMinutes(3));

        assertThat(raised()).hasSize(1);
    }
}
