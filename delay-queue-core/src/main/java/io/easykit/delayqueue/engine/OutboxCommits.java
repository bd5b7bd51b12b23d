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
    void read(long number) {
        if (number > greatestRead) {
            greatestRead = number;
        }
    }

    /** Mark of the transactions that were committed since the last call. */
    long takeCommitted() {
        return committed.getAndSet(NONE);
    }

    /** Mark of the open transactions. Some may be visible already, and their callbacks run later. */
    long open() {
        return open.values().stream().mapToLong(mark -> mark).min().orElse(NONE);
    }
}
