package io.easykit.delayqueue.engine;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Transactions of this process whose rows may become visible behind rows with greater numbers. The rows of a transaction have
 * greater numbers than any that was read before its first write, so its mark is the greatest number that was read by then.
 */
final class OutboxCommits {

    static final long NONE = Long.MAX_VALUE;

    /** Marks by transaction, which is compared by identity. */
    private final Map<Object, Long> open = new ConcurrentHashMap<>();

    private final AtomicLong committed = new AtomicLong(NONE);
    private volatile long greatestRead;
    private boolean isFirstPage;

    /** Called before each write. */
    void writes(Object transaction) {
        open.putIfAbsent(transaction, greatestRead);
    }

    /** The rows are visible. */
    void committed(Object transaction) {
        Long mark = open.get(transaction);
        if (mark != null) {
            committed.accumulateAndGet(mark, Math::min);
            open.remove(transaction);
        }
    }

    void rolledBack(Object transaction) {
        open.remove(transaction);
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
     * Mark of the transactions that were committed since the last call. Until the first page of a pass is stored, also of open ones:
     * some may be visible already, and their callbacks run later. At each page, one that stays open would hold up the pass.
     */
    long takeVisible() {
        long mark = isFirstPage ? open() : NONE;
        return Math.min(mark, committed.getAndSet(NONE));
    }

    private long open() {
        return open.values().stream().mapToLong(mark -> mark).min().orElse(NONE);
    }
}
