package io.easykit.delayqueue.support;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Durations in messages, as a properties file has them: a whole number of the largest unit that fits, such as 1500ms or 90m. */
public final class DurationText {

    private static final int NANOS_OF_MILLI = 1_000_000;
    private static final int SECONDS_OF_MINUTE = 60;
    private static final int SECONDS_OF_HOUR = 3_600;
    private static final int SECONDS_OF_DAY = 86_400;

    /** More milliseconds than these might not fit into a number. */
    private static final Duration MOST_MILLIS = Duration.ofDays(36_500);

    private DurationText() {}

    /** The text of a duration. One that is no whole number of milliseconds, or that is very long, has the form of ISO 8601. */
    public static String of(@Nullable Duration duration) {
        if (duration == null) {
            return "none";
        }
        long seconds = duration.toSeconds();
        if (!duration.equals(Duration.ofSeconds(seconds))) {
            boolean isShort = duration.compareTo(MOST_MILLIS) < 0 && duration.compareTo(MOST_MILLIS.negated()) > 0;
            return isShort && duration.toNanosPart() % NANOS_OF_MILLI == 0
                    ? duration.toMillis() + "ms"
                    : duration.toString();
        }
        if (seconds == 0) {
            return "0s";
        }
        if (seconds % SECONDS_OF_DAY == 0) {
            return seconds / SECONDS_OF_DAY + "d";
        }
        if (seconds % SECONDS_OF_HOUR == 0) {
            return seconds / SECONDS_OF_HOUR + "h";
        }
        return seconds % SECONDS_OF_MINUTE == 0 ? seconds / SECONDS_OF_MINUTE + "m" : seconds + "s";
    }
}
