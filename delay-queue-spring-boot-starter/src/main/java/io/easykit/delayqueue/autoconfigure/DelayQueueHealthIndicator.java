package io.easykit.delayqueue.autoconfigure;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.admin.OutboxAdmin;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.metrics.TopicSnapshots;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.ShardKey;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/**
 * DOWN if Redis does not reply or takes no writes, because nothing can be sent then. Never DOWN for a backlog or for dead letters: a
 * restart would not help. Details: the figures of each topic with a listener on this node, and the result of the Redis
 * check.
 */
final class DelayQueueHealthIndicator implements HealthIndicator {

    /** A shard that is never used, to check Redis without a topic. The key that is written expires after a second. */
    private static final ShardKey ANY = new ShardKey("health", 0);

    private final QueueBackend store;
    private final WriteChecks writes;
    private final TopicSnapshots snapshots;
    private final Supplier<Set<String>> listenedTo;
    private final @Nullable RedisStartupCheck check;
    private final Supplier<OutboxAdmin.@Nullable Stats> outbox;

    DelayQueueHealthIndicator(
            QueueBackend store,
            TopicSnapshots snapshots,
            Supplier<Set<String>> listenedTo,
            @Nullable RedisStartupCheck check,
            Supplier<OutboxAdmin.@Nullable Stats> outbox) {
        this.store = store;
        this.writes = new WriteChecks(store::checkWrites, System::nanoTime);
        this.snapshots = snapshots;
        this.listenedTo = listenedTo;
        this.check = check;
        this.outbox = outbox;
    }

    @Override
    public Health health() {
        Health.Builder health = Health.up();
        if (check != null) {
            check.report().ifPresent(report -> {
                health.withDetail("redis", report.details());
                if (!report.warnings().isEmpty()) {
                    health.withDetail("warnings", report.warnings());
                }
            });
        }
        OutboxAdmin.Stats waiting = outbox.get();
        if (waiting != null) {
            health.withDetail(
                    "outbox",
                    Map.of(
                            "waiting",
                            waiting.waiting(),
                            "oldest",
                            DurationTexts.text(waiting.oldest()),
                            "refusedTopics",
                            waiting.refused()));
        }
        Set<String> known = new TreeSet<>(listenedTo.get());
        try {
            if (known.isEmpty()) {
                store.stats(ANY);
                writes.require(ANY.topic(), 1);
                return health.build();
            }
            Map<String, Map<String, Object>> topics = new LinkedHashMap<>();
            for (String topic : known) {
                TopicStats stats = snapshots.of(topic);
                topics.put(topic, numbers(stats));
                health.withDetail("topics", topics);
                writes.require(topic, stats.shards().size() + stats.refused().size());
            }
            return health.build();
        } catch (RuntimeException away) {
            return health.down(away).build();
        }
    }

    private static Map<String, Object> numbers(TopicStats stats) {
        Map<String, Object> numbers = new LinkedHashMap<>();
        numbers.put("waiting", stats.waiting());
        numbers.put("due", stats.due());
        numbers.put("inFlight", stats.inFlight());
        numbers.put("dead", stats.dead());
        numbers.put("paused", stats.paused());
        if (!stats.refused().isEmpty()) {
            // The numbers above lack these shards.
            numbers.put("refused", stats.refused());
        }
        return numbers;
    }
}
