package io.easykit.delayqueue.store;

import java.util.List;

/**
 * The result of a repair.
 *
 * @param next      position of the next page, or empty after the last one
 * @param putBack   ids of messages that were in no place and wait again
 * @param leftovers entries of messages that had ended or moved, which were removed
 * @param counters  names of counters that were no numbers and were computed anew from the messages
 */
public record Repaired(String next, List<String> putBack, long leftovers, List<String> counters) {

    /** Position of the first page. */
    public static final String BEGIN = "state:0";

    public Repaired {
        putBack = List.copyOf(putBack);
        counters = List.copyOf(counters);
    }

    /** Whether everything has been looked at. */
    public boolean isLast() {
        return next.isEmpty();
    }
}
