package io.easykit.console;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Keeps the latest entries of the audit for the page: in a list that all nodes share, or in memory while its store does not
 * answer. An entry has a line that is written before the change, and a short line with the outcome after it, so a change
 * whose node died in between is shown as begun.
 */
final class AuditTrail {

    private static final Logger log = LoggerFactory.getLogger(AuditTrail.class);

    /** A change has at most two lines. */
    private static final int LINES = 2;

    private static final int READ_AT_ONCE = 100;

    /** Calls that search for the place of a cursor. Then its entry counts as gone. */
    private static final int READS_TO_FIND = 20;

    /** Changes end soon, so the line of an outcome is near the line of its entry. */
    private static final int NEAR = 50;

    private static final String REDIS_AWAY = "Redis does not answer.";
    private static final String REDIS_REFUSES =
            "Redis refuses entries of the audit: the log of the node has the reason.";

    private final @Nullable AuditStore store;
    private final int most;
    private final JsonMapper json = JsonMapper.builder().build();
    private final Deque<String> memory = new ArrayDeque<>();
    private final Deque<String> unsent = new ArrayDeque<>();
    private volatile boolean refused;

    /**
     * @param store null to keep entries in memory only
     * @param most  entries that are kept
     */
    AuditTrail(@Nullable AuditStore store, int most) {
        this.store = store;
        this.most = most * LINES;
    }

    /** Adds an entry, or the rest of one with the same {@code id}. Throws nothing. */
    void add(Map<String, Object> entry) {
        if (most == 0) {
            return;
        }
        String line = json.writeValueAsString(entry);
        keep(memory, line);
        AuditStore shared = store;
        if (shared != null) {
            send(shared, line);
        }
    }

    private void send(AuditStore shared, String line) {
        keep(unsent, line);
        try {
            sendKept(shared);
        } catch (RuntimeException away) {
            log.debug("The audit is kept in memory until its store answers", away);
        }
    }

    private void sendKept(AuditStore shared) {
        synchronized (unsent) {
            for (String next = unsent.peekLast(); next != null; next = unsent.peekLast()) {
                addOrLeaveOut(shared, next);
                unsent.pollLast();
            }
        }
    }

    /** A line that the store refuses is left out: otherwise it would hold up all later ones. */
    private void addOrLeaveOut(AuditStore shared, String line) {
        try {
            shared.add(line, most);
            refused = false;
        } catch (AuditStore.Refused refusal) {
            if (!refused) {
                refused = true;
                log.warn(
                        "The store refuses entries of the audit. Until this is fixed they are in the log of this node"
                                + " only, and the page shows the latest ones of this node",
                        refusal);
            }
        }
    }

    private void keep(Deque<String> lines, String line) {
        synchronized (lines) {
            lines.addFirst(line);
            while (lines.size() > most) {
                lines.removeLast();
            }
        }
    }

    /**
     * Entries, the latest first.
     *
     * @param entries each with all its fields
     * @param next    cursor of the next page, or null
     * @param shared  whether they are those of all nodes
     * @param why     why they are not, although there is a store; else null
     */
    record Page(List<Map<String, Object>> entries, @Nullable String next, boolean shared, @Nullable String why) {

        private Page ofThisNode(@Nullable String reason) {
            return new Page(entries, next, false, reason);
        }
    }

    /** @param after cursor of an earlier page, or null */
    Page page(@Nullable String after, int size) {
        Cursor cursor = Cursor.parse(after);
        AuditStore shared = store;
        if (shared == null) {
            return page(this::inMemory, cursor, size).ofThisNode(null);
        }
        String why = REDIS_REFUSES;
        try {
            if (!refused) {
                sendKept(shared);
            }
            if (!refused) {
                return page(shared::read, cursor, size);
            }
        } catch (RuntimeException away) {
            log.debug("The audit is read from memory", away);
            why = REDIS_AWAY;
        }
        return page(this::inMemory, cursor, size).ofThisNode(why);
    }

    private List<String> inMemory(long skip, int count) {
        synchronized (memory) {
            return memory.stream().skip(skip).limit(count).toList();
        }
    }

    private interface Lines {
        List<String> read(long skip, int count);
    }

    /**
     * New lines only push old ones further from the beginning, so the cursor's line is at its old place or behind it. A line
     * whose reply was lost is stored twice.
     */
    private Page page(Lines lines, Cursor cursor, int size) {
        List<Map<String, Object>> entries = new ArrayList<>();
        Map<String, Map<String, Object>> rests = new LinkedHashMap<>();
        Set<String> seen = new HashSet<>();
        long at = Math.max(0, cursor.at() - NEAR);
        long lastAt = at;
        boolean behind = cursor.id().isEmpty();
        long farthest = at + (long) READS_TO_FIND * READ_AT_ONCE;
        while (at <= most && (behind || at < farthest)) {
            List<String> read = lines.read(at, READ_AT_ONCE);
            for (String line : read) {
                Map<String, Object> entry = parse(line);
                String id = String.valueOf(entry.get("id"));
                if (!entry.containsKey("action")) {
                    rests.put(id, entry);
                } else if (!seen.add(id)) {
                    log.debug("An entry is stored twice: the reply to the first attempt was lost");
                } else if (behind && entries.size() == size) {
                    Object last = entries.get(size - 1).get("id");
                    return new Page(entries, lastAt + "-" + last, true, null);
                } else if (behind) {
                    Map<String, Object> rest = rests.get(id);
                    if (rest != null) {
                        entry.putAll(rest);
                    }
                    entries.add(entry);
                    lastAt = at;
                } else {
                    behind = id.equals(cursor.id());
                }
                at++;
            }
            if (read.size() < READ_AT_ONCE) {
                break;
            }
        }
        return new Page(entries, null, true, null);
    }

    private Map<String, Object> parse(String line) {
        Map<String, Object> entry = new LinkedHashMap<>();
        try {
            Map<?, ?> fields = json.readValue(line, Map.class);
            if (fields != null) {
                fields.forEach((name, value) -> entry.put(String.valueOf(name), value));
            }
        } catch (JacksonException strange) {
            log.debug("A line of the audit is not readable", strange);
        }
        return entry;
    }

    /**
     * The last entry of a page.
     *
     * @param at its place in the list when it was read
     * @param id of the entry; empty for the beginning
     */
    private record Cursor(long at, String id) {

        static Cursor parse(@Nullable String text) {
            if (text == null) {
                return new Cursor(0, "");
            }
            if (!text.matches("\\d{1,7}-[0-9a-z]{1,16}")) {
                throw new Refusal(400, "The cursor is not one of the audit.", "Begin with the first page.");
            }
            int end = text.indexOf('-');
            return new Cursor(Long.parseLong(text.substring(0, end)), text.substring(end + 1));
        }
    }
}
