package io.easykit.delayqueue.support;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.Objects;

/**
 * When a message is due: at an instant, or a while after the store has taken it, by the store's clock. Rounded up to
 * whole milliseconds, so that rounding makes nothing early.
 *
 * @param relative whether the milliseconds count from now
 * @param millis   of the delay, or since the epoch
 */
public record DueTime(boolean relative, long millis) {

    /** Some 10,000 years, and a number that Redis holds exactly. */
    private static final long MAX_MILLIS = 300_000_000_000_000L;

    public DueTime {
        if (millis < 0 || millis > MAX_MILLIS) {
            throw new IllegalArgumentException((relative ? "A delay of " : "A due time of ") + millis
                    + " ms is not possible: give one from 0 to " + MAX_MILLIS + " ms.");
        }
    }

    public static DueTime after(Duration delay) {
        Objects.requireNonNull(
                delay, "A message without a delay: give one, Duration.ZERO for a message that is due at once.");
        return new DueTime(true, ceilingMillis(delay));
    }

    /** An instant that has passed, however long ago, is due at once. */
    public static DueTime at(Instant instant) {
        Objects.requireNonNull(instant, "A message without a due time: give one, or send it with a delay.");
        return new DueTime(false, Math.max(0, ceilingMillis(Duration.between(Instant.EPOCH, instant))));
    }

    /** The instant of a date with a time zone. */
    public static DueTime at(ZonedDateTime date) {
        Objects.requireNonNull(date, "A message without a due time: give one, or send it with a delay.");
        return at(date.toInstant());
    }

    /** A local date in a time zone, as {@link ZonedDateTime#of(LocalDateTime, ZoneId)}. */
    public static DueTime at(LocalDateTime date, ZoneId zone) {
        Objects.requireNonNull(date, "A message without a due time: give one, or send it with a delay.");
        Objects.requireNonNull(
                zone, "A local due time without a zone: give one, such as ZoneId.of(\"Asia/Shanghai\").");
        return at(ZonedDateTime.of(date, zone));
    }

    static long ceilingMillis(Duration duration) {
        try {
            return duration.isNegative()
                    ? Math.min(-1, duration.toMillis())
                    : duration.plusNanos(999_999).toMillis();
        } catch (ArithmeticException tooLong) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }
}
