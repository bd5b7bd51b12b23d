package io.easykit.delayqueue.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.easykit.delayqueue.admin.OutboxAdmin;
import io.easykit.delayqueue.admin.ShardStats;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.metrics.TopicSnapshots;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.springframework.boot.health.contributor.Status;

class DelayQueueHealthIndicatorTests {

    private final List<ShardKey> written = new ArrayList<>();

    private final QueueBackend store = (QueueBackend) Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[] {QueueBackend.class}, (proxy, method, arguments) -> {
                assertThat(method.getName()).isEqualTo("checkWrites");
                written.add((ShardKey) arguments[0]);
                return null;
            });

    /** Its figures cannot be read, because a key has another type. Writes may still work. */
    @Test
    void triesToWriteInShardsThatTheStoreRefusesToCount() {
        ShardStats counted = new ShardStats(
                Instant.EPOCH, null, 0, 0, 0, 0, null, Set.of(), new ShardStats.Counters(0, 0, 0, 0, 0, 0, 0, 0));
        TopicStats stats = new TopicStats("orders", new TreeMap<>(Map.of(1, counted)), List.of("shard 0 is refused"));
        DelayQueueHealthIndicator indicator = new DelayQueueHealthIndicator(
                store,
                new TopicSnapshots(topic -> stats, Duration.ofSeconds(1), System::nanoTime),
                () -> Set.of("orders"),
                null,
                () -> new OutboxAdmin.Stats(3, Duration.ofSeconds(70), 1));

        assertThat(indicator.health()).isNotNull().satisfies(health -> assertThat(health.getStatus())
                .isEqualTo(Status.UP));
        assertThat(indicator.health().getDetails())
                .containsEntry("outbox", Map.of("waiting", 3L, "oldest", "70s", "refusedTopics", 1))
                .extractingByKey("topics", InstanceOfAssertFactories.MAP)
                .extractingByKey("orders", InstanceOfAssertFactories.MAP)
                .containsEntry("refused", List.of("shard 0 is refused"));
        assertThat(written.subList(0, 2)).containsExactly(new ShardKey("orders", 0), new ShardKey("orders", 1));
    }
}
