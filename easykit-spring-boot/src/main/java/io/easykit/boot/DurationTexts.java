package io.easykit.boot;

import java.time.Duration;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Durations as texts of people: {@code 1500ms}, {@code 10m}, {@code 1h30m} or {@code PT2H}. Unlike in Spring Boot a number needs
 * its unit, because few would read it as milliseconds. Only zero is the same in all units.
 */
public final class DurationTexts {

    private static final long MINUTE = 60;
    private static final long HOUR = 60 * MINUTE;
    private static final long DAY = 24 * HOUR;

    /** Seconds, ten years. A longer duration is not written in milliseconds. */
    private static final long LONGEST_IN_MILLIS = 3_650 * DAY;

    private DurationTexts() {}

    /**
     * Reads a duration.
     *
     * @throws IllegalArgumentException if it is not a duration, or has no unit
     */
    public static Duration parse(String text) {
        String number = text.strip();
        if (lacksUnit(number)) {
            throw new IllegalArgumentException("it has no unit");
        }
        return DurationFormatterUtils.detectAndParse(number, (DurationFormat.Unit) null);
    }

    /**
     * A duration as a properties file has it: a whole number of the largest unit that fits. One that is no whole number of
     * milliseconds is in the form of ISO 8601.
     */
    public static String text(Duration duration) {
        if (duration.isZero()) {
            return "0s";
        }
        long seconds = duration.toSeconds();
        if (!duration.equals(Duration.ofSeconds(seconds))) {
            boolean isWhole =
                    Math.abs(seconds) < LONGEST_IN_MILLIS && duration.equals(Duration.ofMillis(duration.toMillis()));
            return isWhole ? duration.toMillis() + "ms" : duration.toString();
        }
        if (seconds % DAY == 0) {
            return seconds / DAY + "d";
        }
        if (seconds % HOUR == 0) {
            return seconds / HOUR + "h";
        }
        return seconds % MINUTE == 0 ? seconds / MINUTE + "m" : seconds + "s";
    }

    /** Seconds as replies have them, with up to three decimals. */
    public static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }

    /** Whether it is a number other than zero. */
    static boolean lacksUnit(String text) {
        return text.matches("[+-]?\\d+") && !text.matches("[+-]?0+");
    }
}
