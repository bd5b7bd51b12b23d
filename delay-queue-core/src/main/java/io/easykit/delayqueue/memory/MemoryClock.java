package io.easykit.delayqueue.memory;

import io.easykit.delayqueue.support.DueTime;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;

/** The clock of the store. It counts in microseconds, as that of Redis does, and messages are due at whole milliseconds. */
final class MemoryClock {

    private final LongSupplier micros;

    /** @param micros microseconds since the epoch */
    MemoryClock(LongSupplier micros) {
        this.micros = micros;
    }

    static long ceilingMillis(Duration duration) {
        return DueTime.after(duration).millis();
    }

    long micros() {
        return micros.getAsLong();
    }

    /** Milliseconds since the epoch, rounded down. */
    long now() {
        return Math.floorDiv(micros.getAsLong(), 1000L);
    }

    /** Milliseconds since the epoch, rounded up, so that a delay is never too short. */
    long nowCeil() {
        return -Math.floorDiv(-micros.getAsLong(), 1000L);
    }

    Instant instant() {
        return Instant.ofEpochMilli(now());
    }

    /** The due time in milliseconds since the epoch. */
    long at(DueTime due) {
        return due.relative() ? nowCeil() + due.millis() : due.millis();
    }

    /** The end of a duration that begins now, in milliseconds since the epoch. */
    long after(Duration delay) {
        return nowCeil() + ceilingMillis(delay);
    }
}
