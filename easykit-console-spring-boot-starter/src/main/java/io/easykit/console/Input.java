package io.easykit.console;

import io.easykit.boot.DurationTexts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The JSON object of a change, read field by field. A field of another type is refused by name. */
public final class Input {

    private static final int MAX_TEXT = 1000;

    private final Map<?, ?> fields;

    Input(Map<?, ?> fields) {
        this.fields = fields;
    }

    /** A text, or null if there is none. */
    public @Nullable String text(String name) {
        Object value = fields.get(name);
        if (value == null || (value instanceof String text && text.length() <= MAX_TEXT)) {
            return (String) value;
        }
        throw wrong(name, "a text of at most " + MAX_TEXT + " characters");
    }

    /** A text of any length, or another one if there is none. Refuses nothing. */
    String textOr(String name, String otherwise) {
        return fields.get(name) instanceof String text ? text : otherwise;
    }

    /** A text that has to be there. */
    public String required(String name) {
        String text = text(name);
        if (text == null || text.isEmpty()) {
            throw wrong(name, "a text");
        }
        return text;
    }

    /** A text of any length that has to be there; it may be empty. */
    public String content(String name) {
        if (fields.get(name) instanceof String text) {
            return text;
        }
        throw wrong(name, "a text");
    }

    /** An object of texts. */
    public Map<String, String> texts(String name) {
        if (!(fields.get(name) instanceof Map<?, ?> object)) {
            throw wrong(name, "an object of texts");
        }
        Map<String, String> texts = new LinkedHashMap<>();
        object.forEach((key, value) -> {
            if (!(value instanceof String text)) {
                throw wrong(name, "an object of texts");
            }
            texts.put(String.valueOf(key), text);
        });
        return texts;
    }

    /** A list of texts. */
    public List<String> strings(String name, int most) {
        if (!(fields.get(name) instanceof List<?> list)
                || list.isEmpty()
                || list.size() > most
                || !list.stream().allMatch(one -> one instanceof String text && text.length() <= MAX_TEXT)) {
            throw wrong(name, "a list of 1 to " + most + " texts");
        }
        return list.stream().map(String::valueOf).toList();
    }

    /** An object, or null if there is none. */
    public @Nullable Input object(String name) {
        Object value = fields.get(name);
        if (value == null) {
            return null;
        }
        if (value instanceof Map<?, ?> object) {
            return new Input(object);
        }
        throw wrong(name, "an object");
    }

    /** Whether a field is there and true. */
    public boolean flag(String name) {
        Object value = fields.get(name);
        if (value == null || value instanceof Boolean) {
            return Boolean.TRUE.equals(value);
        }
        throw wrong(name, "true or false");
    }

    /**
     * A whole number, or null if there is none.
     *
     * @param most the largest possible
     */
    public @Nullable Integer count(String name, int most) {
        return count(name, most, null);
    }

    /**
     * A whole number, or null if there is none.
     *
     * @param most      the largest possible
     * @param otherwise what may stand in place of a number, for the reason of a refusal
     */
    public @Nullable Integer count(String name, int most, @Nullable String otherwise) {
        if (!has(name)) {
            return null;
        }
        boolean isWhole = fields.get(name) instanceof Integer || fields.get(name) instanceof Long;
        long number = isWhole ? number(name) : 0;
        if (number < 1 || number > most) {
            throw otherwise == null
                    ? wrong(name, "a whole number from 1 to " + most)
                    : wrong(name, "a whole number from 1 to " + most + ", or " + otherwise);
        }
        return (int) number;
    }

    /** Refuses the change unless {@code confirm} is the name of its target. */
    public void requireConfirmed(String name, String what) {
        if (!name.equals(text("confirm"))) {
            throw new Refusal(400, "The name of the " + what + " was not confirmed.", "Type it exactly.");
        }
    }

    /** A whole number that has to be there. */
    public long number(String name) {
        Object value = fields.get(name);
        if (value instanceof Integer || value instanceof Long) {
            return ((Number) value).longValue();
        }
        throw wrong(name, "a whole number");
    }

    /** A duration that has to be there. */
    public Duration duration(String name) {
        try {
            return DurationTexts.parse(required(name));
        } catch (IllegalArgumentException e) {
            throw wrong(name, "a duration with its unit, such as 30s, 5m or 2h");
        }
    }

    /** Whether a field is this word. */
    public boolean is(String name, String word) {
        return word.equals(fields.get(name));
    }

    /** Whether there is such a field. */
    public boolean has(String name) {
        return fields.get(name) != null;
    }

    /**
     * The objects of a list.
     *
     * @param most of them
     */
    public List<Input> list(String name, int most) {
        if (!(fields.get(name) instanceof List<?> list) || list.isEmpty() || list.size() > most) {
            throw wrong(name, "a list of 1 to " + most);
        }
        List<Input> inputs = new ArrayList<>(list.size());
        for (Object one : list) {
            if (!(one instanceof Map<?, ?> object)) {
                throw wrong(name, "a list of objects");
            }
            inputs.add(new Input(object));
        }
        return inputs;
    }

    private static Refusal wrong(String name, String wanted) {
        return new Refusal(400, "The field " + name + " is not " + wanted + ".", "Correct the field " + name + ".");
    }
}
