package io.easykit.cache.aop;

import java.time.Duration;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Durations as texts, such as {@code 1500ms} or {@code 10m}. */
final class DurationTexts {

    private DurationTexts() {}

    /** @throws IllegalArgumentException if it is not a duration, or has no unit */
    static Duration parse(String text) {
        if (text.chars().allMatch(Character::isDigit)) {
            throw new IllegalArgumentException("it has no unit");
        }
        return DurationFormatterUtils.detectAndParse(text.strip(), (DurationFormat.Unit) null);
    }
}
