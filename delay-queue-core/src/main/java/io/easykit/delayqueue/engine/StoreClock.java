package io.easykit.delayqueue.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * An estimate of the store's clock, from its last reply with a time. It decides when to claim; the store decides which messages are
 * due. The estimate is never ahead of the store, so no claim is too early.
 */
final class StoreClock {

    private static final long DAY = TimeUnit.DAYS.toMillis(1);

    private volatile Reading last = new Reading(0, 0);

    private record Reading(long millis, long nanos) {}

    /**
     * Takes over an answer.
     *
     * @param nanos when it arrived, by this node's clock
     */
    void set(Instant now, long nanos) {
        last = new Reading(now.toEpochMilli(), nanos);
    }

    /** When the store will show this time, by this node's clock; at most a day from the last answer, which is far. */
    long nanosAt(Instant time) {
        Reading reading = last;
        long ahead = Math.max(-DAY, Math.min(DAY, time.toEpochMilli() - reading.millis));
        return reading.nanos + TimeUnit.MILLISECONDS.toNanos(ahead);
    }

    /** What the store shows at this time of this node. */
    Instant at(long nanos) {
        Reading reading = last;
        return Instant.ofEpochMilli(reading.millis + TimeUnit.NANOSECONDS.toMillis(nanos - reading.nanos));
    }

    /** How long ago this time was, zero if it is to come. */
    Duration since(Instant time, long nanos) {
        return Duration.ofNanos(Math.max(0, nanos - nanosAt(time)));
    }
}
