package io.easykit.delayqueue.engine;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Tracks transactions of this process whose rows may become visible behind rows with greater numbers. The rows of a transaction have
 * greater numbers than any that was read before its first write, so its mark is the greatest number that was read by then.
 */
final class OutboxCommits {

    static final long NONE = Long.MAX_VALUE;

    /**
     * Marks of the transactions that commit now. Others may stay open for long, and their rows are not visible. Weak, because the
     * end of some is not reported.
     */
    private final Map<Transaction, Long> committing = Collections.synchronizedMap(new WeakHashMap<>());

    private final AtomicLong committed = new AtomicLong(NONE);
    private volatile long greatestRead;
    private boolean isFirstPage;

    /** A transaction, or a part of it. */
    final class Transaction {

        private long mark = NONE;
        private boolean commits;

        /** Called before each write. */
        void writes(boolean isCommitting) {
            mark = mark == NONE ? greatestRead : mark;
            if (commits || isCommitting) {
                committing.put(this, mark);
            }
        }

        /** Called before the commit, or after it if the first write came too late for that. */
        void commits() {
            commits = true;
            if (mark != NONE) {
                committing.put(this, mark);
            }
        }

        /** The rows are visible. */
        void committed() {
            committed.accumulateAndGet(mark, Math::min);
            committing.remove(this);
        }

        void rolledBack() {
            committing.remove(this);
        }
    }

    /** For the relay only, as what follows. */
    void beginPass() {
        isFirstPage = true;
    }

    /** A page has been stored. */
    void read(long number) {
        isFirstPage = false;
        if (number > greatestRead) {
            greatestRead = number;
        }
    }

    /**
     * Mark of the transactions that were committed since the last call, and of those that commit now: some may be visible already, and
     * their callbacks run later.
     *
     * @param leavesOut whether rows that were read stay. Then transactions that commit now count until the first page of a pass is
     *     stored: at each page they would bring back the same rows, and a slow commit would hold up the pass
     */
    long takeVisible(boolean leavesOut) {
        long mark = isFirstPage || !leavesOut ? committing() : NONE;
        return Math.min(mark, committed.getAndSet(NONE));
    }

    private long committing() {
        synchronized (committing) {
            return committing.values().stream().mapToLong(mark -> mark).min().orElse(NONE);
        }
    }
}
