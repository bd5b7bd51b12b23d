package io.easykit.boot;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.context.ApplicationEventPublisher;

/**
 * Records the changes that operators make. A change has a line of the logger {@code easykit.audit} before it is made, and another
 * line and an {@link AuditApplicationEvent} after it. An {@link AuditKeeper} gets both parts. An error in here is logged, and
 * neither fails a change nor hides its error.
 */
public final class OperatorAudit {

    /** Field of an entry with an old message. It is kept, but not logged or published. */
    public static final String OLD = "old";

    private static final Logger log = LoggerFactory.getLogger("easykit.audit");
    private static final int MOST_CHARACTERS = 300;

    private final String node;
    private final LongSupplier millis;
    private final AuditKeeper keeper;
    private final ApplicationEventPublisher events;

    /** Outcome of a change. */
    public enum Outcome {
        /** It was made. */
        DONE,
        /** It was refused, so nothing has changed. */
        REFUSED,
        /** It failed before anything was changed, as far as is known. */
        FAILED,
        /** It may have been made, in part or whole. */
        UNKNOWN;

        private String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Creates the audit of a node.
     *
     * @param node   name of this process
     * @param millis clock, in milliseconds since 1970
     */
    public OperatorAudit(String node, LongSupplier millis, AuditKeeper keeper, ApplicationEventPublisher events) {
        this.node = node;
        this.millis = millis;
        this.keeper = keeper;
        this.events = events;
    }

    /**
     * A new entry. More fields may be added.
     *
     * @param who  name of the user
     * @param from address of the user, or how the request came
     */
    public Map<String, Object> entry(String action, String who, String from) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("id", Long.toString(ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE), 36));
        entry.put("at", millis.getAsLong());
        entry.put("who", cut(who));
        entry.put("from", cut(from));
        entry.put("node", node);
        entry.put("action", action);
        return entry;
    }

    /**
     * Makes a change and records it. The caller gets the exceptions of the change.
     *
     * @param details more fields of the entry of a change that was made
     * @param judge   outcome of a change that has thrown an exception
     */
    public <T> T around(
            Map<String, Object> entry,
            Supplier<T> change,
            Function<T, Map<String, Object>> details,
            Function<RuntimeException, Outcome> judge) {
        entry.put("outcome", "begun");
        line(entry);
        boolean isKept = keep(entry);
        Map<String, Object> rest = new LinkedHashMap<>();
        rest.put("id", String.valueOf(entry.get("id")));
        rest.put("outcome", Outcome.FAILED.word());
        try {
            T done = change.get();
            rest.put("outcome", Outcome.DONE.word());
            rest.putAll(details.apply(done));
            return done;
        } catch (RuntimeException failure) {
            rest.put("outcome", judge.apply(failure).word());
            rest.put("why", cut(String.valueOf(failure.getMessage())));
            throw failure;
        } finally {
            entry.putAll(rest);
            boolean unused = keep(isKept ? rest : entry);
            line(entry);
            publish(entry);
        }
    }

    /**
     * Records a read, or a change that was not begun.
     *
     * @param keeps whether the keeper gets it
     */
    public void note(Map<String, Object> entry, Outcome outcome, boolean keeps) {
        entry.put("outcome", outcome.word());
        if (keeps) {
            boolean unused = keep(entry);
        }
        line(entry);
        publish(entry);
    }

    private boolean keep(Map<String, Object> entry) {
        try {
            keeper.keep(entry);
            return true;
        } catch (RuntimeException failure) {
            log.warn("An entry of the audit is in the log only, because it could not be kept", failure);
            return false;
        }
    }

    private void publish(Map<String, Object> entry) {
        Map<String, Object> data = new LinkedHashMap<>(entry);
        data.remove(OLD);
        String action = String.valueOf(entry.get("action"));
        try {
            String type = "EASYKIT_" + action.toUpperCase(Locale.ROOT).replaceAll("[/-]", "_");
            events.publishEvent(new AuditApplicationEvent(String.valueOf(entry.get("who")), type, data));
        } catch (RuntimeException failure) {
            log.warn(
                    "A listener of audit events failed at {} {}. The reply to the user does not show it: correct the listener",
                    printable(action),
                    printable(entry.get("outcome")),
                    failure);
        }
    }

    private static void line(Map<String, Object> entry) {
        if (log.isInfoEnabled()) {
            Map<String, Object> rest = new LinkedHashMap<>(entry);
            rest.keySet().removeAll(List.of("at", "outcome", "action", "who", OLD));
            log.info(
                    "{} {} by {} {}",
                    printable(entry.get("action")),
                    printable(entry.get("outcome")),
                    printable(entry.get("who")),
                    printable(rest));
        }
    }

    /** Control characters are replaced, so that each entry is one line. */
    private static String printable(@Nullable Object value) {
        return String.valueOf(value).replaceAll("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]", "?");
    }

    /** The text, cut if it is too long for an entry. */
    public static String cut(String text) {
        return text.length() <= MOST_CHARACTERS ? text : text.substring(0, MOST_CHARACTERS) + "…";
    }
}
