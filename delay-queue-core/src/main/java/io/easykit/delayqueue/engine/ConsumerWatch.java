package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.admin.NodeInfo;
import io.easykit.delayqueue.admin.TopicStats;
import io.easykit.delayqueue.store.ShardKey;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Raises an alert if messages of a topic have been due for a while and no node consumes them. Each node checks the topics that
 * it uses, whether it has a listener or not: a topic without listeners is noticed by its senders. A check takes a bounded
 * time; topics that it did not reach are the first of the next one.
 */
final class ConsumerWatch {

    private final EngineContext engine;
    private final Alerts alerts;
    private final Function<String, @Nullable Duration> limits;
    private final Map<String, Long> missingSince = new HashMap<>();
    private final BoundedRound<String> round;
    private final Set<ShardKey> silent = new HashSet<>();

    /** @param limits by topic, how long due messages may be without a consumer; null for no limit */
    ConsumerWatch(EngineContext engine, Function<String, @Nullable Duration> limits) {
        this.engine = engine;
        this.alerts = new Alerts(engine.store(), engine.loopEvents());
        this.limits = limits;
        this.round = new BoundedRound<>(engine.loops()::nanos);
    }

    /** Called after each heartbeat of this node. */
    void check() {
        if (round.isComplete()) {
            round.add(engine.topics().known().keySet());
        }
        Places places = new Places();
        round.run(topic -> {
            Duration limit = limits.apply(topic);
            if (limit != null) {
                check(topic, limit, places);
            }
        });
    }

    private void check(String topic, Duration limit, Places places) {
        TopicStats stats = EachShard.withOutageLimit(engine.loops()::nanos, silent)
                .countAll(topic, engine.topics().keysToLookAt(topic), engine.store());
        // Messages may be due in a shard that was not counted.
        boolean mayBeDue = stats.due() > 0 || !stats.refused().isEmpty();
        boolean isConsumed = mayBeDue && places.of(topic) > 0;
        if (stats.due() > 0 && !isConsumed) {
            missing(topic, limit);
        } else if (isConsumed || !mayBeDue) {
            missingSince.remove(topic);
            if (stats.alerts().contains(Kind.NO_CONSUMER)) {
                alerts.resolve(topic, Kind.NO_CONSUMER);
            }
        }
    }

    private void missing(String topic, Duration limit) {
        long now = engine.loops().nanos();
        Duration missing = Duration.ofNanos(now - missingSince.computeIfAbsent(topic, name -> now));
        if (missing.compareTo(limit) >= 0) {
            alerts.raise(topic, Kind.NO_CONSUMER, missing.toMillis(), limit.toMillis());
        }
    }

    /** The nodes, read once a check at most. */
    private final class Places {

        private @Nullable List<NodeInfo> nodes;

        int of(String topic) {
            List<NodeInfo> known = nodes;
            if (known == null) {
                known = engine.store().fleet().nodes();
                nodes = known;
            }
            return known.stream().mapToInt(node -> node.places(topic)).sum();
        }
    }
}
