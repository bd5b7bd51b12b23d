package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.TopicConflictException;
import io.easykit.delayqueue.engine.GrowthRun.Weakness;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardCount;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shards are added to a topic while it is in use. To repeat a random run that failed: {@code -Deasykit.seed=<the seed>}. */
class GrowthTests {

    private final TestQueue queue = new TestQueue();

    @Test
    void keepsIdsKeysAndTimesWhileShardsAreAdded() {
        Long given = Long.getLong("easykit.seed");
        LongStream seeds = given == null ? new Random().longs(8) : LongStream.of(given);
        seeds.forEach(seed -> run(seed, Weakness.NONE));
    }

    @Test
    @Tag("heavy")
    void keepsIdsKeysAndTimesWhileShardsAreAddedForLong() {
        new Random().longs(1000).forEach(seed -> run(seed, Weakness.NONE));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void noticesWrongCounts(Weakness weakness) {
        assertThatThrownBy(() -> LongStream.range(0, 30).forEach(seed -> run(seed, weakness)))
                .isInstanceOf(AssertionError.class);
    }

    private static void run(long seed, Weakness weakness) {
        try {
            new GrowthRun(seed, weakness).run();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("Seed " + seed + ": " + e.getMessage(), e);
        }
    }

    @Test
    void aRunningListenerClaimsFromNewShardsWithoutAnEndOfItsRuns() {
        queue.memory.declare(TOPIC, 1);
        ListenerContainer container = queue.start(listener().concurrency(2), message -> {});
        queue.time.advance(Duration.ofSeconds(5));

        assertThat(queue.engine.admin().growShards(TOPIC, 4)).isEqualTo(1);
        queue.time.advance(Duration.ofSeconds(75));
        store(3, Duration.ZERO);
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(queue.runs).hasSize(1);
        queue.stop(container);
        assertThat(container.isRunning()).isFalse();
    }

    @Test
    void aNodeThatDoesNotKnowTheNewShardsCancelsMessagesThere() {
        queue.memory.declare(TOPIC, 1);
        DelayQueueEngine other = queue.builder(queue.time.node(), queue.memory).build();
        assertThat(other.template().find(TOPIC, "none")).isEmpty();
        queue.engine.admin().growShards(TOPIC, 9);
        String id = store(8, Duration.ofHours(1));
        queue.time.advance(Duration.ofSeconds(2));

        assertThat(other.template().cancel(TOPIC, id)).isEqualTo(ChangeOutcome.APPLIED);
        assertThat(other.template().cancel(TOPIC, "~zz~made up")).isEqualTo(ChangeOutcome.GONE);
    }

    @Test
    void cannotTakeShardsAwayOrBeginATopic() {
        queue.memory.declare(TOPIC, 4);

        assertThatThrownBy(() -> queue.engine.admin().growShards(TOPIC, 2))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("has 4 shards in the store, and cannot have 2")
                .hasMessageContaining("Set 4 or more");
        assertThatThrownBy(() -> queue.engine.admin().growShards("mistyped", 2))
                .isInstanceOf(TopicConflictException.class)
                .hasMessageContaining("was never used");
        assertThatThrownBy(() -> queue.engine.admin().growShards(TOPIC, 1025)).hasMessageContaining("1 to 1024");
        assertThat(queue.memory.declared("mistyped")).isEqualTo(ShardCount.NONE);
        assertThat(queue.engine.admin().growShards(TOPIC, 4)).isEqualTo(4);
        assertThat(queue.memory.declared(TOPIC).isGrown()).isFalse();
    }

    @Test
    void aMessageOfTheOutboxOfANodeThatKnowsMoreShardsIsStoredThere() {
        queue.memory.declare(TOPIC, 1);
        Topics topics = new Topics(queue.memory, topic -> Topics.UNSET, queue.node::nanos);
        assertThat(topics.shards(TOPIC).all()).isEqualTo(1);
        queue.memory.grow(TOPIC, 3);
        queue.time.advance(Duration.ofSeconds(2));
        String id = MessageIds.generate(2);

        assertThat(topics.shardsToStore(TOPIC, id).shardOf(id)).isEqualTo(new ShardKey(TOPIC, 2));
    }

    /** Stores a message with a generated id in a shard. */
    private String store(int shard, Duration delay) {
        String id = MessageIds.generate(shard);
        Bytes frame = new Envelope(1, Map.of(), null, new TestQueue.TextCodec().encode("x")).encode();
        queue.memory.send(new ShardKey(TOPIC, shard), List.of(new NewMessage(id, DueTime.after(delay), frame)));
        return id;
    }
}
