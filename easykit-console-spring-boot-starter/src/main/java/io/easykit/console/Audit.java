package io.easykit.console;

import io.easykit.boot.AuditKeeper;
import io.easykit.boot.OperatorAudit;
import io.easykit.boot.OperatorAudit.Outcome;
import io.easykit.console.ConsoleApi.Done;
import io.easykit.console.ConsoleApi.Planned;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationEventPublisher;

/** Records each change with its user. The latest entries of all nodes are kept for the page. */
public final class Audit implements AuditKeeper {

    /** Most characters of a note. */
    static final int MAX_NOTE = 200;

    private static final int MAX_IDS = 20;
    private static final long MINUTE = 60_000;

    private static final long DAY = 24 * 60 * MINUTE;

    private final OperatorAudit changes;
    private final AuditTrail trail;
    private final LongSupplier millis;

    // More refusals are logged, but not kept, so that they do not push changes out of the list.
    private final Quota ofMinute = new Quota(20, MINUTE);
    private final Quota ofDay = new Quota(100, DAY);

    /**
     * Creates the audit of a node.
     *
     * @param store  list that all nodes share, or null to keep entries in memory
     * @param size   entries that are kept
     * @param millis clock, in milliseconds since 1970
     * @param events gets an event for each entry
     */
    public Audit(
            String node, @Nullable AuditStore store, int size, LongSupplier millis, ApplicationEventPublisher events) {
        this.trail = new AuditTrail(store, size);
        this.millis = millis;
        this.changes = new OperatorAudit(node, millis, trail::add, events);
    }

    /** Keeps an entry of this console, or of an endpoint of this node. */
    @Override
    public void keep(Map<String, Object> entry) {
        trail.add(entry);
    }

    Done around(String action, Caller caller, Planned planned, String note) {
        List<String> ids = planned.ids();
        Map<String, Object> entry = entry(action, caller);
        entry.put("topic", planned.target());
        entry.put("count", ids.size());
        entry.put("ids", ids.subList(0, Math.min(MAX_IDS, ids.size())));
        entry.put("filter", planned.filter());
        entry.put("note", note);
        return changes.around(entry, () -> planned.act().run(), Done::details, Audit::outcome);
    }

    private static Outcome outcome(RuntimeException failure) {
        if (failure instanceof Refusal refusal) {
            return refusal.outcome();
        }
        return failure instanceof IllegalArgumentException ? Outcome.REFUSED : Outcome.FAILED;
    }

    /**
     * Records a change that was not begun.
     *
     * @param input its fields, or null if they were not read
     */
    void refused(String action, Caller caller, @Nullable Input input, RuntimeException refusal) {
        Map<String, Object> entry = entry(action, caller);
        entry.put("topic", input == null ? "" : OperatorAudit.cut(input.textOr("topic", "")));
        entry.put("note", input == null ? "" : OperatorAudit.cut(input.textOr("note", "")));
        entry.put("why", OperatorAudit.cut(String.valueOf(refusal.getMessage())));
        changes.note(entry, outcome(refusal), isKept());
    }

    private boolean isKept() {
        long now = millis.getAsLong();
        return ofMinute.take(now) && ofDay.take(now);
    }

    /** So many in each period. */
    private static final class Quota {

        private final int most;
        private final long period;
        private int taken;
        private long since;

        Quota(int most, long period) {
            this.most = most;
            this.period = period;
        }

        synchronized boolean take(long now) {
            if (Math.abs(now - since) > period) {
                since = now;
                taken = 0;
            }
            if (taken == most) {
                return false;
            }
            taken++;
            return true;
        }
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
        changes.note(entry, Outcome.DONE, true);
    }

    private Map<String, Object> entry(String action, Caller caller) {
        return changes.entry(action, caller.name(), caller.from());
    }

    /**
     * One page of entries. Of an old message, users who may not save bodies get its size alone. A text that was searched for is
     * hidden from users who may not see values.
     */
    Map<String, Object> page(@Nullable String after, int size, Caller caller) {
        AuditTrail.Page page = trail.page(after, size);
        for (Map<String, Object> entry : page.entries()) {
            if (!caller.savesBodies() && entry.get(OperatorAudit.OLD) instanceof Map<?, ?> old) {
                Map<Object, Object> shown = new LinkedHashMap<>(old);
                shown.keySet().removeAll(List.of("sha256", "body", "headers"));
                entry.put(OperatorAudit.OLD, shown);
            }
            entry.computeIfPresent("why", (name, why) -> new EnglishText(String.valueOf(why)));
            entry.computeIfPresent("filter", (name, filter) -> new EnglishText(shown(String.valueOf(filter), caller)));
        }
        Map<String, Object> reply = new LinkedHashMap<>();
        reply.put("shared", page.shared());
        if (page.why() != null) {
            reply.put("why", new EnglishText(page.why()));
        }
        reply.put("entries", page.entries());
        if (page.next() != null) {
            reply.put("next", page.next());
        }
        return reply;
    }

    private static String shown(String filter, Caller caller) {
        int text = caller.seesValues() ? -1 : filter.indexOf(ConsoleApi.TEXT_OF_VALUES);
        return text < 0 ? filter : filter.substring(0, text) + ConsoleApi.TEXT_OF_VALUES + "******";
    }
}
