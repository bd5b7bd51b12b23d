package io.easykit.delayqueue.admin;

import java.util.List;

/**
 * Actions of operators, as their tools note them: a list that all nodes share, the latest first, of limited length. The queue
 * itself writes none. Best effort: no message depends on it. Errors are those of {@link DelayQueueAdmin}.
 */
public interface ActionLog {

    /** Largest entry, in bytes of UTF-8. */
    int MAX_BYTES = 1 << 17;

    /** Largest number of entries that are kept. */
    int MAX_ENTRIES = 1_000_000;

    /** Of a store that keeps nothing. */
    ActionLog NONE = new ActionLog() {
        @Override
        public void add(String entry, int most) {}

        @Override
        public List<String> read(long skip, int count) {
            return List.of();
        }
    };

    /**
     * Adds an entry, and forgets the oldest ones.
     *
     * @param most entries to keep, from 1 to {@link #MAX_ENTRIES}
     */
    void add(String entry, int most);

    /**
     * Reads entries, the latest first.
     *
     * @param skip  how many of the latest to leave out
     * @param count how many at most, from 1 to 100
     */
    List<String> read(long skip, int count);
}
