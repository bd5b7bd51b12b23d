package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.Bytes;
import io.easykit.delayqueue.DelayQueueAdmin;
import io.easykit.delayqueue.DueTime;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessagePage;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.TopicStats;
import io.easykit.delayqueue.engine.FaultyStore.Fault;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DelayQueueAdminTests {

    private final TestQueue queue = new TestQueue(builder -> builder.shards(topic -> 2));
    private final DelayQueueAdmin dead = queue.engine.admin();
    private boolean healthy;

    @BeforeEach
    void die() {
        queue.start(listener().concurrency(20).retry(RetryPolicy.fixed(1, Duration.ZERO)), message -> {
            if (!healthy) {
                throw new IllegalStateException();
            }
        });
        IntStream.range(0, 250).forEach(i -> queue.send("m" + i, Duration.ZERO));
        queue.time.advance(Duration.ofSeconds(2));
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(250);
        queue.runs.clear();
    }

    @Test
    void pagesThroughAllShards() {
        List<String> ids = new ArrayList<>();
        for (long offset = 0; offset < 250; offset += 30) {
            MessagePage page = dead.deadLetters(TOPIC, offset, 30);
            assertThat(page.total()).isEqualTo(250);
            page.messages().forEach(message -> ids.add(message.id()));
        }

        assertThat(ids).hasSize(250).doesNotHaveDuplicates();
        assertThat(dead.deadLetters(TOPIC, 250, 30).messages()).isEmpty();
    }

    @Test
    void redrivesAllAtTheGivenPace() {
        healthy = true;
        Instant begin = queue.time.now();

        assertThat(dead.redriveAll(TOPIC, 10)).isEqualTo(250);
        queue.time.advance(Duration.ofSeconds(12));
        assertThat(queue.runs).hasSizeBetween(100, 140);
        queue.time.advance(Duration.ofSeconds(20));
        assertThat(queue.runs).hasSize(250);
        assertThat(queue.runs).allMatch(run -> !run.at().isBefore(begin));
        assertThat(queue.engine.stats(TOPIC).dead()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {600, 1_500, 5_000})
    void redrivesNoFasterThanAtAHighPace(int perSecond) {
        healthy = true;
        dead.redriveAll(TOPIC, perSecond);
        Duration untilTheLast = Duration.ofSeconds(250).dividedBy(perSecond);

        queue.time.advance(untilTheLast.dividedBy(2));
        assertThat(queue.runs).hasSizeLessThan(125 + perSecond / 250);
        queue.time.advance(untilTheLast);
        assertThat(queue.runs).hasSize(250);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8, 64})
    void keepsThePaceWhereAllAreInOneShard(int shards) {
        TestQueue uneven = new TestQueue(builder -> builder.shards(topic -> shards));
        ListenerEndpoint.Builder mortal = listener().concurrency(100).retry(RetryPolicy.fixed(1, Duration.ZERO));
        boolean[] cured = new boolean[1];
        uneven.start(mortal, message -> {
            if (!cured[0]) {
                throw new IllegalStateException();
            }
        });
        Bytes frame = new Envelope(1, Map.of(), null, Bytes.of(new byte[1])).encode();
        IntStream.range(0, 5)
                .forEach(batch -> uneven.memory.send(
                        new ShardKey(TOPIC, shards - 1),
                        IntStream.range(0, 60)
                                .mapToObj(i -> new NewMessage(
                                        MessageIds.generate(shards - 1), DueTime.in(Duration.ZERO), frame))
                                .toList()));
        uneven.memory.send(
                new ShardKey(TOPIC, 0),
                List.of(new NewMessage(MessageIds.generate(0), DueTime.in(Duration.ZERO), frame)));
        uneven.time.advance(Duration.ofSeconds(3));
        assertThat(uneven.engine.stats(TOPIC).dead()).isEqualTo(301);
        uneven.runs.clear();
        cured[0] = true;

        assertThat(uneven.engine.admin().redriveAll(TOPIC, 100)).isEqualTo(301);

        for (int second = 1; second <= 3; second++) {
            uneven.time.advance(Duration.ofSeconds(1));
            assertThat(uneven.runs).hasSizeBetween(100 * second - 2, 100 * second + 2);
        }
        uneven.time.advance(Duration.ofMillis(100));
        assertThat(uneven.runs).hasSize(301);
    }

    @Test
    void refusesPagesThatCannotBe() {
        for (int count : List.of(0, 101)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> dead.deadLetters(TOPIC, 0, count))
                    .withMessageContaining("1 to 100");
        }
        assertThatIllegalArgumentException().isThrownBy(() -> dead.deadLetters(TOPIC, -1, 1));
    }

    @Test
    void redrivesEachOnceAlthoughTheyDieAgain() {
        dead.redriveAll(TOPIC, Integer.MAX_VALUE);
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(queue.runs).hasSize(250);
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(250);
    }

    @Test
    void showsAndMovesTheOthersWhereAShardIsRefused() {
        ShardKey damaged = new ShardKey(TOPIC, 0);
        long ofTheOther = queue.engine.stats(TOPIC).shards().get(1).dead();
        queue.line.planByShard(shard -> shard.equals(damaged) ? Fault.REFUSED : Fault.NONE);

        MessagePage page = dead.deadLetters(TOPIC, 0, 100);
        assertThat(page.total()).isEqualTo(ofTheOther);
        assertThat(page.messages()).hasSize(100);
        assertThat(page.refused()).containsExactly("refused list");
        TopicStats stats = queue.engine.stats(TOPIC);
        assertThat(stats.dead()).isEqualTo(ofTheOther);
        assertThat(stats.refused()).containsExactly("refused stats");
        assertThatThrownBy(() -> dead.redriveAll(TOPIC, Integer.MAX_VALUE)).isInstanceOf(StoreRefusedException.class);
        assertThat(queue.engine.stats(TOPIC).waiting()).isEqualTo(ofTheOther);

        queue.line.planByShard(shard -> Fault.NONE);
        queue.time.advance(Duration.ofSeconds(5));
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(250);
        queue.line.planByShard(shard -> shard.equals(damaged) ? Fault.REFUSED : Fault.NONE);
        assertThatThrownBy(() -> dead.purgeOlderThan(TOPIC, Duration.ZERO)).isInstanceOf(StoreRefusedException.class);
        queue.line.planByShard(shard -> Fault.NONE);
        assertThat(queue.engine.stats(TOPIC).dead()).isEqualTo(250 - ofTheOther);
    }

    @Test
    void saysThatNothingCanBeReadWhereAllShardsAreRefused() {
        queue.line.plan(method -> Fault.REFUSED);

        assertThatThrownBy(() -> dead.deadLetters(TOPIC, 0, 100)).isInstanceOf(StoreRefusedException.class);
        assertThatThrownBy(() -> queue.engine.stats(TOPIC)).isInstanceOf(StoreRefusedException.class);
    }

    @Test
    void showsWhatWasSentAndWhyItDied() {
        queue.engine
                .template()
                .send(OutgoingMessage.of(TOPIC, "body").id("shown").header("tenant", "7"));
        queue.time.advance(Duration.ofSeconds(2));

        MessageInfo shown = dead.deadLetters(TOPIC, 0, 100).messages().stream()
                .filter(message -> message.id().equals("shown"))
                .findFirst()
                .or(() -> queue.engine.template().find(TOPIC, "shown"))
                .orElseThrow();

        assertThat(shown.topic()).isEqualTo(TOPIC);
        assertThat(shown.state()).isEqualTo(MessageInfo.State.DEAD);
        assertThat(shown.headers()).containsExactly(Map.entry("tenant", "7"));
        assertThat(shown.failures()).isEqualTo(1);
        assertThat(shown.lastError()).isNotNull().satisfies(error -> assertThat(error.text())
                .startsWith("java.lang.IllegalStateException"));
        assertThat(shown.body()).isNotNull().satisfies(body -> assertThat(new String(body.array(), UTF_8))
                .contains("body"));
        assertThat(shown.damage()).isNull();
        assertThat(shown.toString()).doesNotContain("7]");
    }

    @Test
    void showsAMessageWhoseFrameCannotBeDecoded() {
        ShardKey shard = new ShardKey(TOPIC, MessageIds.shardOf("garbled", 2));
        queue.memory.send(shard, List.of(new NewMessage("garbled", DueTime.in(Duration.ZERO), Bytes.of(new byte[9]))));

        MessageInfo shown = queue.engine.template().find(TOPIC, "garbled").orElseThrow();

        assertThat(shown.body()).isNull();
        assertThat(shown.headers()).isEmpty();
        assertThat(shown.damage()).contains("not an envelope");
    }

    @Test
    void purgesOneAndTheOld() {
        MessageInfo first = dead.deadLetters(TOPIC, 0, 1).messages().get(0);

        assertThat(dead.purge(TOPIC, first.id(), first.diedAt().plusMillis(1))).isFalse();
        assertThat(dead.purge(TOPIC, first.id(), first.diedAt())).isTrue();
        assertThat(dead.purgeOlderThan(TOPIC, Duration.ofHours(1))).isZero();
        queue.time.advance(Duration.ofHours(2));
        assertThat(dead.purgeOlderThan(TOPIC, Duration.ofHours(1))).isEqualTo(249);
    }
}
