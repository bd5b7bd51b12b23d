package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.AlertLimits.Kind;
import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.store.AlertReport;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.TopicStore;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Raises and resolves alerts, once for all nodes: each node checks, and the store lets one of them report.
 *
 * <p>No report is lost. A call without a reply is repeated under the same token, and gets the same reply. The node confirms its
 * report with the next check, seconds later; if it dies before, another node reports the change after
 * {@link TopicStore#ALERT_CLAIM}. So a change may be reported twice. Lost are only those events that a node had not delivered
 * to its listeners when it died after its confirmation.
 */
final class Alerts {

    private static final Logger log = LoggerFactory.getLogger(Alerts.class);

    private record Alert(String topic, Kind kind) {}

    private record Change(boolean raises, AlertReport report) {}

    private final TopicStore store;
    private final EventQueue events;
    private final Map<Alert, Change> open = new HashMap<>();

    Alerts(TopicStore store, EventQueue events) {
        this.store = store;
        this.events = events;
    }

    /** With each check that finds the limit exceeded. */
    void raise(String topic, Kind kind, long value, long limit) {
        if (isToReport(new Alert(topic, kind), true)) {
            log.warn("Topic {} exceeds its limit {}: {} of {}", topic, kind.storedName(), value, limit);
            events.emit(new DelayQueueEvent.AlertRaised(topic, kind, value, limit));
        }
    }

    /** With each check that finds the limit not exceeded, at least while the alert counts as raised. */
    void resolve(String topic, Kind kind) {
        if (isToReport(new Alert(topic, kind), false)) {
            log.info("Topic {} is within its limit {} again", topic, kind.storedName());
            events.emit(new DelayQueueEvent.AlertResolved(topic, kind));
        }
    }

    private boolean isToReport(Alert alert, boolean raises) {
        Change known = open.get(alert);
        AlertReport report =
                known != null && known.raises() == raises ? known.report() : new AlertReport(newToken(), false);
        open.put(alert, new Change(raises, report));
        ShardKey shard = new ShardKey(alert.topic(), 0);
        String name = alert.kind().storedName();
        boolean isToReport = raises ? store.raise(shard, name, report) : store.resolve(shard, name, report);
        if (isToReport) {
            open.put(alert, new Change(raises, new AlertReport(report.token(), true)));
        } else {
            open.remove(alert);
        }
        return isToReport;
    }

    private static String newToken() {
        return UUID.randomUUID().toString().replace("-", "");
    }
}
