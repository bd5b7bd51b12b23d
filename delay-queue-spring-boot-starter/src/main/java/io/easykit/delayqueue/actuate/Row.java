package io.easykit.delayqueue.actuate;

import io.easykit.boot.DurationTexts;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One object of a JSON reply. A value that is null is left out, and a duration is a number of seconds. */
final class Row {

    private final Map<String, Object> values = new LinkedHashMap<>();
    private final Function<Instant, Object> times;

    /** A row whose times are text in ISO 8601. */
    Row() {
        this(Instant::toString);
    }

    /** @param times writes a time */
    Row(Function<Instant, Object> times) {
        this.times = times;
    }

    Row with(String name, @Nullable Object value) {
        if (value != null) {
            values.put(name, written(value));
        }
        return this;
    }

    private Object written(Object value) {
        if (value instanceof Duration duration) {
            return DurationTexts.seconds(duration);
        }
        return value instanceof Instant time ? times.apply(time) : value;
    }

    Map<String, Object> values() {
        return values;
    }
}
