package io.easykit.boot;

import java.time.Duration;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Durations as texts of people: {@code 1500ms}, {@code 10m}, {@code 1h30m} or {@code PT2H}. Unlike in Spring Boot a number needs
 * its unit, because few would read it as milliseconds. Only zero is the same in all units.
 */
public final class DurationTexts {

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

    /** Whether it is a number other than zero. */
    static boolean lacksUnit(String text) {
        return text.matches("[+-]?\\d+") && !text.matches("[+-]?0+");
    }
}
