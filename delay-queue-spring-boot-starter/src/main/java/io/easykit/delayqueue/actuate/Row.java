package io.easykit.delayqueue.actuate;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One object of a JSON reply. A value that is null is left out; a time is text in ISO 8601. */
final class Row {

    private final Map<String, Object> values = new LinkedHashMap<>();

    Row with(String name, @Nullable Object value) {
        if (value != null) {
            values.put(name, value instanceof Instant time ? time.toString() : value);
        }
        return this;
    }

    Map<String, Object> values() {
        return values;
    }
}
