package io.easykit.delayqueue.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.easykit.delayqueue.admin.TopicStats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TopicSnapshotsTests {

    private final AtomicLong clock = new AtomicLong();
    private final List<String> asked = new ArrayList<>();

    @Test
    void asksOnceForManyLooks() {
        TopicSnapshots snapshots = new TopicSnapshots(this::stats, Duration.ofSeconds(5), clock::get);

        TopicStats first = snapshots.of("orders");
        clock.addAndGet(Duration.ofSeconds(5).toNanos() - 1);

        assertThat(snapshots.of("orders")).isSameAs(first);
        assertThat(asked).containsExactly("orders");
    }

    @Test
    void asksAgainWhenTheAnswerIsOld() {
        TopicSnapshots snapshots = new TopicSnapshots(this::stats, Duration.ofSeconds(5), clock::get);

        snapshots.of("orders");
        clock.addAndGet(Duration.ofSeconds(5).toNanos());
        snapshots.of("orders");

        assertThat(asked).containsExactly("orders", "orders");
    }

    @Test
    void asksForEachTopic() {
        TopicSnapshots snapshots = new TopicSnapshots(this::stats, Duration.ofSeconds(5), clock::get);

        assertThat(snapshots.of("orders").topic()).isEqualTo("orders");
        assertThat(snapshots.of("mails").topic()).isEqualTo("mails");
    }

    @Test
    void doesNotAskAgainAtOnceAfterAFailure() {
        TopicSnapshots snapshots = new TopicSnapshots(this::fails, Duration.ofSeconds(5), clock::get);

        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> snapshots.of("orders")).hasMessage("away");
        }

        assertThat(asked).containsExactly("orders");
    }

    @Test
    void waitsForAllTopicsTogetherAboutASecondAndAsksAllAgainLater() {
        TopicSnapshots snapshots = new TopicSnapshots(this::hangs, Duration.ofSeconds(5), clock::get);

        IntStream.range(0, 50)
                .forEach(i -> assertThatThrownBy(() -> snapshots.of("t" + i)).hasMessage("no answer"));
        assertThat(asked).hasSize(4);

        clock.addAndGet(Duration.ofSeconds(5).toNanos());
        assertThatThrownBy(() -> snapshots.of("t40")).hasMessage("no answer");
        assertThat(asked).endsWith("t40");
    }

    private TopicStats hangs(String topic) {
        clock.addAndGet(Duration.ofMillis(250).toNanos());
        asked.add(topic);
        throw new IllegalStateException("no answer");
    }

    private TopicStats stats(String topic) {
        asked.add(topic);
        return new TopicStats(topic, List.of());
    }

    private TopicStats fails(String topic) {
        asked.add(topic);
        throw new IllegalStateException("away");
    }
}
