package io.easykit.delayqueue.engine;

import static io.easykit.delayqueue.engine.TestQueue.TOPIC;
import static io.easykit.delayqueue.engine.TestQueue.listener;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.admin.TopicSeries;
import io.easykit.delayqueue.admin.TopicSeries.Point;
import io.easykit.delayqueue.admin.TopicSeries.Rates;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SamplerTests {

    private final TestQueue queue = new TestQueue();

    private TopicSeries hour() {
        return queue.engine.fleet().series(TOPIC, Duration.ofHours(1));
    }

    @Test
    void costsOneCallAMinuteAndShardHoweverManyNodesThereAre() {
        queue.memory.declare(TOPIC, 4);
        FaultyStore otherLine = new FaultyStore(queue.memory);
        queue.engine.join();
        queue.builder(queue.time.node(), otherLine.asStore()).build().join();
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(1));
        queue.line.takeCalls();
        otherLine.takeCalls();
        queue.time.advance(Duration.ofHours(1));
        List<String> calls = queue.line.takeCalls();
        List<String> ofOther = otherLine.takeCalls();

        assertThat(Collections.frequency(calls, "sample")).isEqualTo(4 * 60);
        assertThat(Collections.frequency(calls, "beat")).isEqualTo(360);
        assertThat(Collections.frequency(calls, "topics")).isEqualTo(60);
        assertThat(Collections.frequency(calls, "addTopics")).isEqualTo(60);
        assertThat(calls).hasSize(4 * 60 + 360 + 60 + 60);
        assertThat(ofOther).hasSize(360).containsOnly("beat");
    }

    @Test
    void showsCountsAndRatesByMinute() {
        queue.engine.join();
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofMinutes(10));
        for (int i = 0; i < 120; i++) {
            queue.send("m" + i, i % 2 == 0 ? Duration.ZERO : Duration.ofDays(1));
        }
        queue.time.advance(Duration.ofMinutes(1));

        Point last = hour().points().get(hour().points().size() - 1);
        assertThat(last.sent()).isEqualTo(120);
        assertThat(last.acknowledged()).isEqualTo(60);
        assertThat(last.waiting()).isEqualTo(60);
        assertThat(hour().points()).hasSizeBetween(10, 12);
        assertThat(hour().latestRates()).contains(new Rates(2, 1, 0, 0, 0));
        queue.time.advance(Duration.ofMinutes(1));
        assertThat(hour().latestRates()).contains(new Rates(0, 0, 0, 0, 0));
    }

    @Test
    void goesOnWithAnotherNodeWhenTheFirstOneDies() {
        SimulatedTime.Node doomed = queue.time.node();
        queue.builder(doomed, queue.memory).build().join();
        queue.time.advance(Duration.ofSeconds(1));
        queue.engine.join();
        queue.send("a", Duration.ZERO);
        queue.time.advance(Duration.ofMinutes(5));
        assertThat(queue.line.takeCalls()).doesNotContain("sample");
        int before = hour().points().size();
        doomed.kill();
        queue.time.advance(Duration.ofMinutes(5));

        assertThat(queue.line.takeCalls()).contains("sample");
        assertThat(hour().points()).hasSizeGreaterThanOrEqualTo(before + 4);
    }

    @Test
    void hasNoPointAndNoRateWhileNobodySampled() {
        queue.engine.join();
        queue.send("a", Duration.ofDays(1));
        queue.time.advance(Duration.ofMinutes(5));
        queue.line.away();
        queue.time.advance(Duration.ofMinutes(30));
        queue.line.heal();
        assertThat(hour().latestRates()).isEmpty();
        queue.time.advance(Duration.ofMinutes(2));

        assertThat(hour().points()).hasSizeBetween(6, 10);
        assertThat(hour().latestRates()).isPresent();
    }

    @Test
    void refusalOfOneShardDoesNotHideTheOthers() {
        queue.memory.declare(TOPIC, 2);
        queue.line.planByShard(shard -> shard.shard() == 0 ? FaultyStore.Fault.REFUSED : FaultyStore.Fault.NONE);
        queue.engine.join();
        queue.memory.fleet().addTopics(Map.of(TOPIC, 2, "mail", 1));
        queue.time.advance(Duration.ofMinutes(3));
        queue.line.planByShard(shard -> FaultyStore.Fault.NONE);

        assertThat(queue.memory
                        .fleet()
                        .samples(new ShardKey(TOPIC, 1), Duration.ofHours(1))
                        .points())
                .isNotEmpty();
        assertThat(hour().points()).as("of both shards").isEmpty();
    }

    @Test
    void aGrowthHidesNoMinute() {
        queue.memory.declare(TOPIC, 2);
        queue.engine.join();
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofMinutes(10));
        int before = hour().points().size();
        queue.engine.admin().growShards(TOPIC, 4);
        assertThat(hour().points()).hasSize(before);

        for (int i = 1; i <= 10; i++) {
            queue.time.advance(Duration.ofMinutes(1));
            assertThat(hour().points()).hasSizeBetween(before + i - 1, before + i + 1);
        }
    }

    @Test
    void whatAnAddedShardCountedBeforeItsFirstSampleIsNoRate() {
        queue.memory.declare(TOPIC, 1);
        queue.engine.join();
        queue.start(listener(), message -> {});
        queue.time.advance(Duration.ofMinutes(5));
        queue.engine.admin().growShards(TOPIC, 2);
        List<NewMessage> messages = IntStream.range(0, 100)
                .mapToObj(i -> new NewMessage("m" + i, DueTime.after(Duration.ofDays(1)), Bytes.of(new byte[1])))
                .toList();
        queue.memory.send(new ShardKey(TOPIC, 1), messages);
        queue.time.advance(Duration.ofMinutes(3));

        List<Point> points = hour().points();
        assertThat(points).hasSizeGreaterThan(6);
        assertThat(points.get(points.size() - 1)).returns(100L, Point::waiting).returns(100L, Point::sent);
        assertThat(points.get(0)).returns(0L, Point::waiting).returns(100L, Point::sent);
        assertThat(points)
                .allSatisfy(point -> assertThat(point.since(points.get(0))).isEqualTo(new Rates(0, 0, 0, 0, 0)));
    }

    @Test
    void refusesARangeThatIsNotKept() {
        assertThatThrownBy(() -> queue.engine.fleet().series(TOPIC, Duration.ofHours(25)))
                .hasMessageContaining("24 hours");
        assertThatThrownBy(() -> queue.engine.fleet().series(TOPIC, Duration.ZERO))
                .hasMessageContaining("24 hours");
    }
}
