package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.SendOutbox;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The clock of the outbox's database, as an estimate between two readings, so that the delays of rows are counted by one clock for
 * all nodes. A reading that agrees with the estimate changes nothing: the time between a send and its store is then exact.
 */
final class OutboxClock {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    private final SendOutbox outbox;
    private final LongSupplier nanos;
    private volatile @Nullable Reading last;

    /** @param nanos a clock that only moves forward */
    OutboxClock(SendOutbox outbox, LongSupplier nanos) {
        this.outbox = outbox;
        this.nanos = nanos;
    }

    private record Reading(long millis, long nanos) {

        long at(long now) {
            return millis + Math.floorDiv(now - nanos, MILLI);
        }
    }

    /** Milliseconds since the epoch. Reads the database if it was never read. */
    long millis() {
        Reading known = last;
        return (known == null ? read() : known).at(nanos.getAsLong());
    }

    Reading read() {
        long begin = nanos.getAsLong();
        long millis = outbox.millis();
        long end = nanos.getAsLong();
        Reading known = last;
        if (known != null && known.at(end) >= millis - 1 && known.at(begin) <= millis + 1) {
            return known;
        }
        Reading next = new Reading(millis, begin + (end - begin) / 2);
        last = next;
        return next;
    }
}
