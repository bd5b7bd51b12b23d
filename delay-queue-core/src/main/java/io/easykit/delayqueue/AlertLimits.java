package io.easykit.delayqueue;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What in a topic calls for attention when it is exceeded; null for what does not.
 *
 * @param maxLateness age of the oldest message that is due and not claimed
 * @param due       messages that are due and not claimed
 * @param dead      dead letters
 * @param waiting   messages that wait, those of the far future included
 */
public record AlertLimits(
        @Nullable Duration maxLateness, @Nullable Long due, @Nullable Long dead, @Nullable Long waiting) {

    /** Nothing is watched. */
    public static final AlertLimits NONE = new AlertLimits(null, null, null, null);

    public AlertLimits {
        if (maxLateness != null && !RetryPolicy.isPossible(maxLateness)) {
            throw new IllegalArgumentException("An alert limit on age is zero to 3650 days, not " + maxLateness + ".");
        }
        requireCount(due);
        requireCount(dead);
        requireCount(waiting);
    }

    private static void requireCount(@Nullable Long limit) {
        if (limit != null && limit < 0) {
            throw new IllegalArgumentException("An alert limit on a count is zero or more, not " + limit + ".");
        }
    }

    /** Kinds of limits. */
    public enum Kind {
        LATENESS,
        DUE,
        DEAD,
        WAITING
    }
}
