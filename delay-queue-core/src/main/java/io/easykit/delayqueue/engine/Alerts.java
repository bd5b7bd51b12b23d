package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.TopicStore;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Raises and resolves alerts, once for all nodes: each node checks, and the store lets one of them report. */
final class Alerts {

    private static final Logger log = LoggerFactory.getLogger(Alerts.class);

    /** Long enough for all nodes to be away for a while and then report that the limit is no longer exceeded. */
    private static final Duration FORGOTTEN_AFTER = Duration.ofHours(1);

    private final TopicStore store;
    private final EventQueue events;

    Alerts(TopicStore store, EventQueue events) {
        this.store = store;
        this.events = events;
    }

    void raise(String topic, Kind kind, long value, long limit) {
        if (store.raise(new ShardKey(topic, 0), kind.storedName(), FORGOTTEN_AFTER)) {
            log.warn("Topic {} exceeds its limit {}: {} of {}", topic, kind.storedName(), value, limit);
            events.emit(new DelayQueueEvent.AlertRaised(topic, kind, value, limit));
        }
    }

    void resolve(String topic, Kind kind) {
        if (store.resolve(new ShardKey(topic, 0), kind.storedName())) {
            log.info("Topic {} is within its limit {} again", topic, kind.storedName());
            events.emit(new DelayQueueEvent.AlertResolved(topic, kind));
        }
    }
}
