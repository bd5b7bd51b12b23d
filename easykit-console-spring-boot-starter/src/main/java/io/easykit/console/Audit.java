package io.easykit.console;

import io.easykit.console.ConsoleApi.Done;
import io.easykit.console.ConsoleApi.Planned;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records each change with its user. Each change has a line of the logger {@code easykit.audit} before it is made and one after
 * it. The latest entries of all nodes are kept for the page.
 */
public final class Audit {

    private static final Logger log = LoggerFactory.getLogger("easykit.audit");
    private static final int MAX_IDS = 20;
    private static final int MAX_NOTE = 200;
    private static final long MINUTE = 60_000;

    /** More are logged, but not kept, so that they do not push changes out of the list. */
    private static final int REFUSALS_A_MINUTE = 20;

    private final String node;
    private final AuditTrail trail;
    private final LongSupplier millis;
    private final BiConsumer<String, Map<String, Object>> events;
    private final AtomicInteger refusals = new AtomicInteger();
    private volatile long refusalsSince;

    /**
     * Creates the audit of a node.
     *
     * @param store  list that all nodes share, or null to keep entries in memory
     * @param size   entries that are kept
     * @param millis clock, in milliseconds since 1970
     * @param events gets the name of the user and the data of each entry
     */
    public Audit(
            String node,
            @Nullable AuditStore store,
            int size,
            LongSupplier millis,
            BiConsumer<String, Map<String, Object>> events) {
        this.node = node;
        this.trail = new AuditTrail(store, size);
        this.millis = millis;
        this.events = events;
    }

    Done around(String action, Caller caller, Planned planned, @Nullable String note) {
        String reason = note == null ? "" : note;
        if (reason.length() > MAX_NOTE) {
            throw new Refusal(400, "The note is longer than " + MAX_NOTE + " characters.", "Write a shorter one.");
        }
        List<String> ids = planned.ids();
        Map<String, Object> entry = entry(action, caller);
        entry.put("topic", planned.target());
        entry.put("count", ids.size());
        entry.put("ids", ids.subList(0, Math.min(MAX_IDS, ids.size())));
        entry.put("filter", planned.filter());
        entry.put("note", reason);
        entry.put("outcome", "begun");
        line(entry);
        trail.add(entry);
        Map<String, Object> rest = new LinkedHashMap<>();
        rest.put("id", entry.get("id"));
        rest.put("outcome", "failed");
        try {
            Done done = planned.act().run();
            rest.put("outcome", "done");
            rest.putAll(done.details());
            return done;
        } finally {
            trail.add(rest);
            entry.putAll(rest);
            line(entry);
            publish(entry);
        }
    }

    void refused(String action, Caller caller, String reason) {
        Map<String, Object> entry = entry(action, caller);
        entry.put("note", reason);
        entry.put("outcome", "refused");
        if (isKept()) {
            trail.add(entry);
        }
        line(entry);
        publish(entry);
    }

    private boolean isKept() {
        long now = millis.getAsLong();
        if (Math.abs(now - refusalsSince) > MINUTE) {
            refusalsSince = now;
            refusals.set(0);
        }
        return refusals.incrementAndGet() <= REFUSALS_A_MINUTE;
    }

    /**
     * Records a read, for example of a whole body, before its data are sent.
     *
     * @param ids    messages, if single ones are meant
     * @param filter other limits, or empty
     */
    public void read(String action, Caller caller, String target, List<String> ids, String filter) {
        Map<String, Object> entry = entry(action, caller);
        entry.put("topic", target);
        entry.put("count", ids.size());
        entry.put("ids", ids);
        entry.put("filter", filter);
        entry.put("outcome", "done");
        trail.add(entry);
        line(entry);
        publish(entry);
    }

    private Map<String, Object> entry(String action, Caller caller) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("id", Long.toString(ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE), 36));
        entry.put("at", millis.getAsLong());
        entry.put("who", caller.name());
        entry.put("from", caller.from());
        entry.put("node", node);
        entry.put("action", action);
        return entry;
    }

    /** Without the old message of a replacement: bodies do not belong in events. */
    private void publish(Map<String, Object> entry) {
        Map<String, Object> data = new LinkedHashMap<>(entry);
        data.remove("old");
        events.accept(String.valueOf(entry.get("who")), data);
    }

    /** Control characters are replaced, so that each entry is one line. */
    private static void line(Map<String, Object> entry) {
        Map<String, Object> rest = new LinkedHashMap<>(entry);
        rest.keySet().removeAll(List.of("at", "outcome", "action", "who", "old"));
        if (log.isInfoEnabled()) {
            log.info(
                    "{} {} by {} {}",
                    printable(entry.get("action")),
                    printable(entry.get("outcome")),
                    printable(entry.get("who")),
                    printable(rest));
        }
    }

    private static String printable(@Nullable Object value) {
        return String.valueOf(value).replaceAll("[\\p{Cntrl}\\p{Cf}\\u2028\\u2029]", "?");
    }

    /** One page of entries. A user who may not save bodies gets none of the old ones. */
    Map<String, Object> page(@Nullable String after, int size, Caller caller) {
        AuditTrail.Page page = trail.page(after, size);
        for (Map<String, Object> entry : page.entries()) {
            if (!caller.savesBodies() && entry.get("old") instanceof Map<?, ?> old) {
                Map<Object, Object> shown = new LinkedHashMap<>(old);
                shown.keySet().removeAll(List.of("body", "headers"));
                entry.put("old", shown);
            }
        }
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("shared", page.shared());
        reply.put("entries", page.entries());
        if (page.next() != null) {
            reply.put("next", page.next());
        }
        return reply;
    }
}
