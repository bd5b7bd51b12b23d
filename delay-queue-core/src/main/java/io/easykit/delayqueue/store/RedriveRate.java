package io.easykit.delayqueue.store;

import java.time.Duration;

/**
 * How redriven messages are spread over time.
 *
 * @param delay of the first, counted in whole milliseconds
 * @param gap   from one to the next, to the nanosecond; at most a day
 */
public record RedriveRate(Duration delay, Duration gap) {

    /** All at once. */
    public static final RedriveRate AT_ONCE = new RedriveRate(Duration.ZERO, Duration.ZERO);

    public RedriveRate {
        require(!delay.isNegative() && !gap.isNegative(), "Delay and gap are not negative");
        require(gap.compareTo(Duration.ofDays(1)) <= 0, "A gap is a day at most, not " + gap);
    }

    private static void require(boolean holds, String complaint) {
        if (!holds) {
            throw new IllegalArgumentException(complaint + ".");
        }
    }
}
