package io.easykit.delayqueue.actuate;

import io.easykit.delayqueue.LogText;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Records each change with its user: a line of the logger {@code easykit.audit} before it, and another one and an
 * {@link AuditApplicationEvent} after it.
 */
final class EndpointAudit {

    private static final Logger log = LoggerFactory.getLogger("easykit.audit");

    private final ApplicationEventPublisher events;

    EndpointAudit(ApplicationEventPublisher events) {
        this.events = events;
    }

    /**
     * Makes a change.
     *
     * @param id of the message or the job; empty for a change of the topic
     */
    Map<String, Object> around(
            String action,
            String user,
            String topic,
            String id,
            @Nullable String note,
            Supplier<Map<String, Object>> change) {
        String told = note == null ? "" : note;
        line(action, "begun", user, topic, id, told);
        String outcome = "failed";
        try {
            Map<String, Object> reply = change.get();
            outcome = "done";
            return reply;
        } catch (Refusal refusal) {
            outcome = "refused";
            throw refusal;
        } finally {
            line(action, outcome, user, topic, id, told);
            events.publishEvent(new AuditApplicationEvent(
                    user,
                    "EASYKIT_" + action.toUpperCase(Locale.ROOT).replace('-', '_'),
                    Map.of("topic", topic, "id", id, "note", told, "outcome", outcome, "via", "actuator")));
        }
    }

    private static void line(String action, String outcome, String user, String topic, String id, String note) {
        log.info(
                "{} {} by {}: topic={} id={} note={}",
                action,
                outcome,
                LogText.of(user),
                LogText.of(topic),
                LogText.of(id),
                LogText.of(note));
    }
}
