package io.easykit.delayqueue.actuate;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.support.LogText;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The parameters of a request as text. Each method refuses a value that is not usable, with an example of a usable one. */
final class Fields {

    private final Map<String, String> values = new HashMap<>();

    Fields with(String name, @Nullable String value) {
        if (value != null && !value.isBlank()) {
            values.put(name, value);
        }
        return this;
    }

    @Nullable String text(String name) {
        return values.get(name);
    }

    String required(String name, String example) {
        String value = values.get(name);
        if (value == null) {
            throw new EndpointRefusal(
                    400, "The request has no '" + name + "'.", "Add it, for example " + example + ".");
        }
        return value;
    }

    String topic() {
        return required("topic", "order-close; the path topics lists all");
    }

    int number(String name, int fallback, int min, int max) {
        return number(name, fallback, min, max, "");
    }

    /** @param otherwise the end of the remedy: what may stand in place of a number */
    int number(String name, int fallback, int min, int max, String otherwise) {
        String value = values.get(name);
        if (value == null) {
            return fallback;
        }
        try {
            int number = Integer.parseInt(value.strip());
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Refused below.
        }
        throw unusable(name, value, "Give a whole number from " + min + " to " + max + otherwise + ".");
    }

    @Nullable Instant time(String name) {
        String value = values.get(name);
        try {
            return value == null ? null : Instant.parse(value.strip());
        } catch (DateTimeParseException e) {
            throw unusable(name, value, "Give a time such as 2026-01-31T14:05:00.123Z, as the messages show it.");
        }
    }

    @Nullable Duration duration(String name) {
        String value = values.get(name);
        try {
            return value == null ? null : DurationTexts.parse(value);
        } catch (IllegalArgumentException e) {
            throw unusable(name, value, "Give a duration with its unit, such as 30s, 5m or 2h.");
        }
    }

    /** Names as a list in a sentence. */
    static String listed(Collection<String> names) {
        String all = String.join(", ", names);
        int last = all.lastIndexOf(", ");
        return last < 0 ? all : all.substring(0, last) + " or " + all.substring(last + 2);
    }

    static EndpointRefusal unusable(String name, @Nullable String value, String action) {
        return new EndpointRefusal(
                400, "'" + LogText.of(String.valueOf(value)) + "' is not usable for '" + name + "'.", action);
    }
}
