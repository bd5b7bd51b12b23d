package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.admin.FleetSnapshot;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.admin.TopicSummary;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SnapshotsTests {

    private final TestQueue queue = new TestQueue();

    private FleetSnapshot snapshot() {
        return queue.engine.fleet().snapshot();
    }

    private void advance(Duration duration) {
        queue.time.advance(duration);
    }

    private void declare(Map<String, Integer> topics) {
        topics.forEach(queue.memory::declare);
        queue.memory.fleet().addTopics(topics);
    }

    @Test
    void showsEachTopicInOneLine() {
        declare(Map.of(TOPIC, 4, "mail", 1));
        queue.engine.join();
        queue.start(listener().concurrency(8), message -> {});
        queue.engine.fleet().pause("mail", "ops");
        queue.engine.template().send(OutgoingMessage.of("mail", "x"));
        advance(Duration.ofMinutes(3));
        for (int i = 0; i < 60; i++) {
            queue.send("m" + i, Duration.ZERO);
        }
        advance(Duration.ofMinutes(1));
        FleetSnapshot taken = snapshot();

        assertThat(taken.nodes()).isEqualTo(1);
        assertThat(taken.now()).isEqualTo(queue.time.now());
        assertThat(taken.topics()).extracting(TopicSummary::topic).containsExactly("mail", TOPIC);
        TopicSummary mail = taken.topics().get(0);
        assertThat(mail.pausedShards()).isEqualTo(1);
        assertThat(mail.places()).isZero();
        assertThat(Objects.requireNonNull(mail.total()).due()).isEqualTo(1);
        assertThat(mail.total().pause()).extracting(ShardStats.Pause::by).isEqualTo("ops");
        TopicSummary orders = taken.topics().get(1);
        assertThat(orders.shards()).isEqualTo(4);
        assertThat(orders.places()).isEqualTo(8);
        assertThat(orders.rates()).isEqualTo(new Rates(1, 1, 0, 0, 0));
        assertThat(Objects.requireNonNull(orders.total()).counters().acknowledged())
                .isEqualTo(60);
        assertThat(orders.failure()).isNull();
    }

    @Test
    void countsThePlacesOfAllListenersOfATopicWithoutPausedOnes() {
        declare(Map.of(TOPIC, 1, "mail", 1));
        queue.engine.join();
        queue.start(ListenerEndpoint.builder("one", TOPIC, String.class).concurrency(8), message -> {});
        queue.start(ListenerEndpoint.builder("two", TOPIC, String.class).concurrency(3), message -> {});
        queue.start(ListenerEndpoint.builder("three", "mail", String.class).concurrency(5), message -> {});
        ListenerContainer paused = queue.start(
                ListenerEndpoint.builder("paused", TOPIC, String.class).concurrency(16), message -> {});
        paused.pause();
        advance(Duration.ofMinutes(1));

        assertThat(snapshot().topics())
                .extracting(TopicSummary::topic, TopicSummary::places)
                .containsExactly(tuple("mail", 5), tuple(TOPIC, 11));
    }

    @Test
    void isTakenOnceInTwoSecondsForAllViewers() {
        declare(Map.of(TOPIC, 4));
        queue.line.takeCalls();
        for (int i = 0; i < 100; i++) {
            snapshot();
            advance(Duration.ofMillis(100));
        }

        assertThat(Collections.frequency(queue.line.takeCalls(), "stats")).isEqualTo(5 * 4);
    }

    @Test
    void isTakenLessOftenTheLongerItTakes() {
        declare(Map.of(TOPIC, 10));
        queue.line.plan(method -> {
            if (method.equals("stats")) {
                advance(Duration.ofMillis(10));
            }
            return FaultyStore.Fault.NONE;
        });
        FleetSnapshot first = snapshot();
        advance(Duration.ofMillis(19_900));
        assertThat(snapshot()).isSameAs(first);
        advance(Duration.ofMillis(100));
        assertThat(snapshot()).isNotSameAs(first);
    }

    @Test
    void isTakenByOneNodeBeyondFiftyShards() {
        declare(Map.of(TOPIC, 40, "mail", 11));
        FaultyStore otherLine = new FaultyStore(queue.memory);
        DelayQueueEngine other =
                queue.builder(queue.time.node(), otherLine.asStore()).build();
        for (int i = 0; i < 60; i++) {
            assertThat(other.fleet().snapshot().topics()).hasSize(2);
            assertThat(snapshot().topics()).hasSize(2);
            advance(Duration.ofSeconds(1));
        }
        int here = Collections.frequency(queue.line.takeCalls(), "stats");
        int there = Collections.frequency(otherLine.takeCalls(), "stats");

        assertThat(here + there).isBetween(25 * 51, 31 * 51);
    }

    @Test
    void isTakenByEachNodeUpToFiftyShards() {
        declare(Map.of(TOPIC, 50));
        snapshot();

        assertThat(queue.line.takeCalls()).doesNotContain("sharedSnapshot").contains("stats");
    }

    @Test
    void isTakenByAnotherNodeIfItsTakerDies() {
        declare(Map.of(TOPIC, 51));
        queue.memory.fleet().sharedSnapshot(Duration.ofSeconds(2)); // and never shares it
        assertThat(snapshot().topics()).as("there is none to read").hasSize(1);
        advance(Duration.ofSeconds(2));
        assertThat(snapshot().topics()).hasSize(1);
    }

    @Test
    void showsOneFailureToAllViewers() {
        declare(Map.of(TOPIC, 1));
        queue.line.away();
        queue.line.takeCalls();
        for (int i = 0; i < 20; i++) {
            assertThatThrownBy(this::snapshot).isInstanceOf(StoreUnavailableException.class);
            advance(Duration.ofMillis(100));
        }
        assertThat(queue.line.takeCalls()).hasSize(1);
        queue.line.heal();
        assertThat(snapshot().topics()).hasSize(1);
    }

    @Test
    void isShownForHalfAMinuteAtMost() {
        declare(Map.of(TOPIC, 10));
        queue.line.plan(method -> {
            if (method.equals("stats")) {
                advance(Duration.ofMillis(100));
            }
            return FaultyStore.Fault.NONE;
        });
        FleetSnapshot first = snapshot();
        advance(Duration.ofMillis(29_900));
        assertThat(snapshot()).isSameAs(first);
        advance(Duration.ofMillis(100));
        assertThat(snapshot()).isNotSameAs(first);
    }

    /** One master is away, and each of its shards costs a timeout. */
    @Test
    void showsWhatAnswersInABoundedTime() {
        declare(Map.of(TOPIC, 20, "mail", 3, "zeta", 1));
        queue.line.planByShard(shard -> {
            if (shard.shard() % 2 == 1) {
                advance(Duration.ofSeconds(1));
                return FaultyStore.Fault.LOST_REQUEST;
            }
            return FaultyStore.Fault.NONE;
        });
        Instant begin = queue.time.now();
        FleetSnapshot first = snapshot();
        assertThat(Duration.between(begin, queue.time.now())).isLessThan(Duration.ofSeconds(6));
        assertThat(first.topics()).extracting(TopicSummary::topic).containsExactly("mail", TOPIC, "zeta");
        assertThat(first.topics().get(0).total()).isNotNull();
        assertThat(first.topics().get(0).failure()).contains("request lost");
        advance(Duration.ofSeconds(5));
        snapshot();
        advance(Duration.ofSeconds(5));
        FleetSnapshot third = snapshot();
        assertThat(third.topics()).extracting(TopicSummary::total).doesNotContainNull();
        assertThat(third.topics().get(1).failure()).contains("request lost");
        assertThat(third.topics().get(2).failure()).as("of another master").isNull();

        queue.line.planByShard(shard -> FaultyStore.Fault.NONE);
        advance(Duration.ofSeconds(5));
        assertThat(snapshot().topics()).extracting(TopicSummary::failure).containsOnlyNulls();
    }

    @Test
    void namesWhatTheStoreRefuses() {
        declare(Map.of(TOPIC, 2, "mail", 1));
        queue.line.planByShard(shard -> shard.topic().equals("mail") || shard.shard() == 1
                ? FaultyStore.Fault.REFUSED
                : FaultyStore.Fault.NONE);
        FleetSnapshot taken = snapshot();

        assertThat(taken.topics().get(0).total()).isNull();
        assertThat(taken.topics().get(0).failure()).contains("refused stats");
        assertThat(taken.topics().get(1).total()).isNotNull();
        assertThat(taken.topics().get(1).failure()).contains("refused stats");
    }

    /** As by a full Redis, when somebody wants to purge. */
    @Test
    void isTakenByEachNodeIfTheStoreRefusesToShareIt() {
        declare(Map.of(TOPIC, 51));
        queue.line.plan(method -> method.equals("sharedSnapshot") || method.equals("shareSnapshot")
                ? FaultyStore.Fault.REFUSED
                : FaultyStore.Fault.NONE);

        assertThat(snapshot().topics()).hasSize(1);
        assertThat(snapshot().topics().get(0).total()).isNotNull();
    }

    @Test
    void isShownAlthoughItCannotBeShared() {
        declare(Map.of(TOPIC, 51));
        queue.line.once("shareSnapshot", FaultyStore.Fault.LOST_REQUEST);

        assertThat(snapshot().topics()).hasSize(1);
    }

    @Test
    void showsTheRatesOfATopicThatHasJustGrown() {
        declare(Map.of(TOPIC, 2));
        queue.engine.join();
        queue.start(listener(), message -> {});
        advance(Duration.ofMinutes(5));
        queue.engine.admin().growShards(TOPIC, 4);
        queue.memory.fleet().addTopics(Map.of(TOPIC, 4));

        assertThat(snapshot().topics().get(0).rates()).isEqualTo(new Rates(0, 0, 0, 0, 0));
    }
}
