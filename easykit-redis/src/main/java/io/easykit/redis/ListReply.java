package io.easykit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The list that a script replied, read by name. An enum names the values in the order of the script's header; another one
 * names those of a group, if groups follow. A value that is missing or of another type is an error that names script, position
 * and value.
 */
public final class ListReply {

    private final String script;
    private final List<?> values;
    private final int from;
    private final int fields;

    private ListReply(String script, List<?> values, int from, int fields) {
        this.script = script;
        this.values = values;
        this.from = from;
        this.fields = fields;
    }

    /**
     * Wraps a reply.
     *
     * @param script file of the script, for errors
     * @param fields names of the values before any groups, in order
     * @throws IllegalStateException if the reply is no list
     */
    public static ListReply of(String script, @Nullable Object reply, Class<? extends Enum<?>> fields) {
        if (!(reply instanceof List<?> values)) {
            throw new IllegalStateException("The script " + script + " replied " + describe(reply) + ", not a list");
        }
        return new ListReply(script, values, 0, fields.getEnumConstants().length);
    }

    /**
     * The groups behind the named values.
     *
     * @param names names of the values of a group, in order
     * @throws IllegalStateException if the last group is not complete
     */
    public List<ListReply> groups(Class<? extends Enum<?>> names) {
        int size = names.getEnumConstants().length;
        List<ListReply> groups = new ArrayList<>();
        for (int at = fields; at < values.size(); at += size) {
            if (at + size > values.size()) {
                throw new IllegalStateException("The reply of " + script + " ends at position " + values.size()
                        + ", inside a group of " + size + " values");
            }
            groups.add(new ListReply(script, values, at, size));
        }
        return groups;
    }

    /** Whether the value is there: a script may leave out the last ones, or reply nil. */
    public boolean has(Enum<?> field) {
        int at = index(field);
        return at < values.size() && values.get(at) != null;
    }

    /** A whole number. */
    public long number(Enum<?> field) {
        return value(field, Long.class);
    }

    /** A whole number that fits into an {@code int}. */
    public int count(Enum<?> field) {
        return (int) number(field);
    }

    /** A time in ms. */
    public Instant instant(Enum<?> field) {
        return Instant.ofEpochMilli(number(field));
    }

    /** A time in ms; null stands for a negative number. */
    public @Nullable Instant instantOrNull(Enum<?> field) {
        return number(field) < 0 ? null : instant(field);
    }

    /** Bytes. */
    public byte[] bytes(Enum<?> field) {
        return value(field, byte[].class);
    }

    /** Bytes; null if they are missing. */
    public byte @Nullable [] bytesOrNull(Enum<?> field) {
        return has(field) ? bytes(field) : null;
    }

    /** Bytes as a text. */
    public String text(Enum<?> field) {
        return new String(bytes(field), StandardCharsets.UTF_8);
    }

    /** Bytes as a text; null if they are missing. */
    public @Nullable String textOrNull(Enum<?> field) {
        return has(field) ? text(field) : null;
    }

    /** A list of texts. */
    public List<String> texts(Enum<?> field) {
        List<String> texts = new ArrayList<>();
        for (Object text : value(field, List.class)) {
            if (!(text instanceof byte[] bytes)) {
                throw unexpected(field, text, "a list of texts");
            }
            texts.add(new String(bytes, StandardCharsets.UTF_8));
        }
        return texts;
    }

    /** Whether the value is a number, where bytes are possible as well. */
    public boolean isNumber(Enum<?> field) {
        return has(field) && values.get(index(field)) instanceof Long;
    }

    @SuppressWarnings("EnumOrdinal") // the order of the names is that of the values
    private int index(Enum<?> field) {
        return from + field.ordinal();
    }

    private <T> T value(Enum<?> field, Class<T> type) {
        Object value = has(field) ? values.get(index(field)) : null;
        if (!type.isInstance(value)) {
            throw unexpected(field, value, type.getSimpleName());
        }
        return type.cast(value);
    }

    private IllegalStateException unexpected(Enum<?> field, @Nullable Object value, String expected) {
        return new IllegalStateException("The reply of " + script + " has " + describe(value) + " at position "
                + (index(field) + 1) + " (" + field + "), not " + expected);
    }

    /** The type only: a value may be a payload. */
    private static String describe(@Nullable Object value) {
        return value == null ? "nothing" : value.getClass().getSimpleName();
    }
}
