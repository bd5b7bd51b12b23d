package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.TopicStats;
import io.easykit.delayqueue.admin.NodeInfo;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Raises an alert if messages of a topic have been due for a while and no node consumes them. Each node checks the topics that
 * it uses, whether it has a listener or not: where nobody listens, only senders are left to notice.
 */
final class ConsumerWatch {

    private static final Logger log = LoggerFactory.getLogger(ConsumerWatch.class);

    private final EngineContext engine;
    private final Alerts alerts;
    private final Function<String, @Nullable Duration> limits;
    private final Map<String, Long> missingSince = new HashMap<>();

    /** @param limits by topic, how long due messages may be without a consumer; null for no limit */
    ConsumerWatch(EngineContext engine, Function<String, @Nullable Duration> limits) {
        this.engine = engine;
        this.alerts = new Alerts(engine.store(), engine.loopEvents());
        this.limits = limits;
    }

    /** After each heartbeat of this node. */
    void check() {
        for (String topic : engine.topics().known().keySet()) {
            Duration limit = limits.apply(topic);
            if (limit != null) {
                check(topic, limit);
            }
        }
    }

    private void check(String topic, Duration limit) {
        try {
            TopicStats stats = EachShard.stats(topic, engine.topics().keysToLookAt(topic), engine.store());
            if (stats.due() > 0 && placesOf(topic) == 0) {
                missing(topic, limit);
            } else {
                missingSince.remove(topic);
                if (stats.alerts().contains(Kind.NO_CONSUMER)) {
                    alerts.resolve(topic, Kind.NO_CONSUMER);
                }
            }
        } catch (StoreRefusedException e) {
            log.debug("The consumers of {} cannot be checked", topic, e);
        }
    }

    private void missing(String topic, Duration limit) {
        long now = engine.loops().nanos();
        Duration missing = Duration.ofNanos(now - missingSince.computeIfAbsent(topic, name -> now));
        if (missing.compareTo(limit) >= 0) {
            alerts.raise(topic, Kind.NO_CONSUMER, missing.toMillis(), limit.toMillis());
        }
    }

    private int placesOf(String topic) {
        List<NodeInfo> nodes = engine.store().fleet().nodes();
        return nodes.stream().mapToInt(node -> node.places(topic)).sum();
    }
}
