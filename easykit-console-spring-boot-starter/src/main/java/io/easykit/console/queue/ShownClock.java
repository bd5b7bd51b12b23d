package io.easykit.console.queue;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The clock of Redis, as the latest reading showed it. A step of this node's clock does not move it. */
final class ShownClock {

    private final LongSupplier nanos;
    private volatile @Nullable Reading last;

    /** @param nanos a clock that only moves forward */
    ShownClock(LongSupplier nanos) {
        this.nanos = nanos;
    }

    private record Reading(long millis, long nanos) {}

    /** Takes the time of a reply that has just arrived. */
    void set(Instant now) {
        if (now.isAfter(Instant.EPOCH)) {
            last = new Reading(now.toEpochMilli(), nanos.getAsLong());
        }
    }

    /** Milliseconds since 1970, or null before the first reading. */
    @Nullable Long millis() {
        Reading read = last;
        return read == null ? null : read.millis + TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - read.nanos);
    }
}
