package io.easykit.cache;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The key of one entry: {@code <prefix>::<part>:<part>}. Different prefixes and parts never give the same key: the
 * characters that have a meaning in it are escaped in the parts. A store may write something of its own in front of it.
 *
 * @param <V> the value
 */
public final class CacheKey<V> {

    private static final ClassValue<Boolean> STABLE_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return findStableText(type);
        }
    };

    /** A backslash is written before reserved characters only, so no text looks like this. */
    private static final String NULL_FIELD = "\\N";

    private static final ClassValue<List<Method>> FIELDS = new ClassValue<>() {
        @Override
        protected List<Method> computeValue(Class<?> type) {
            return Stream.of(type.getRecordComponents())
                    .map(RecordComponent::getAccessor)
                    .peek(AccessibleObject::trySetAccessible)
                    .toList();
        }
    };

    private final CacheSpec<V> spec;
    private final String name;

    private CacheKey(CacheSpec<V> spec, String name) {
        this.spec = spec;
        this.name = name;
    }

    /** Shape of the keys of a cache, for example {@code user::{#id}}. */
    static String pattern(CacheSpec<?> spec, List<String> parts) {
        return parts.stream().collect(Collectors.joining("}:{", spec.prefix() + "::{", "}"));
    }

    static <V> CacheKey<V> of(CacheSpec<V> spec, @Nullable Object[] parts) {
        if (parts.length == 0) {
            throw new InvalidCacheKeyException(
                    "A key of '" + spec.prefix() + "' has no part. Name at least one, or all calls share one entry.");
        }
        StringBuilder text = new StringBuilder(spec.prefix().length() + 18);
        text.append(spec.prefix()).append(':');
        for (Object part : parts) {
            append(spec, text.append(':'), part);
        }
        return new CacheKey<>(spec, text.toString());
    }

    public CacheSpec<V> spec() {
        return spec;
    }

    /** Name of the entry, unique in its cluster. In Redis the store's key prefix stands in front of it. */
    public String name() {
        return name;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CacheKey<?> key
                && name.equals(key.name)
                && spec.clusterId().equals(key.spec.clusterId());
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name;
    }

    private static void append(CacheSpec<?> spec, StringBuilder text, @Nullable Object part) {
        if (part instanceof Long number) {
            text.append(number.longValue());
        } else if (part instanceof Integer number) {
            text.append(number.intValue());
        } else if (part instanceof String string) {
            escape(text, string);
        } else if (part instanceof List<?> list) {
            appendList(spec, text, list);
        } else if (part instanceof Record fields) {
            appendRecord(spec, text, fields);
        } else {
            escape(text, textOf(spec, part));
        }
    }

    /** Each element ends with a comma, so that no element is not one empty element. */
    private static void appendList(CacheSpec<?> spec, StringBuilder text, List<?> list) {
        text.append('[');
        for (Object element : list) {
            append(spec, text, element);
            text.append(',');
        }
        text.append(']');
    }

    /** Field by field: in the text of a record nobody can tell a comma of its own from one in a field. */
    private static void appendRecord(CacheSpec<?> spec, StringBuilder text, Record part) {
        text.append('[');
        for (Method field : FIELDS.get(part.getClass())) {
            Object value = valueOf(field, part);
            if (value == null) {
                text.append(NULL_FIELD);
            } else {
                append(spec, text, value);
            }
            text.append(',');
        }
        text.append(']');
    }

    private static @Nullable Object valueOf(Method field, Record part) {
        try {
            return field.invoke(part);
        } catch (ReflectiveOperationException failure) {
            throw new InvalidCacheKeyException("Cannot read " + field + " for a key: " + failure
                    + ". Use the fields themselves as parts of the key.");
        }
    }

    private static void escape(StringBuilder text, String part) {
        requireText(part);
        int copied = 0;
        for (int i = 0; i < part.length(); i++) {
            if (isReserved(part.charAt(i))) {
                text.append(part, copied, i).append('\\');
                copied = i;
            }
        }
        text.append(part, copied, part.length());
    }

    private static boolean isReserved(char c) {
        return switch (c) {
            case '\\', ':', '[', ']', ',' -> true;
            default -> false;
        };
    }

    private static String textOf(CacheSpec<?> spec, @Nullable Object part) {
        if (part == null) {
            throw new InvalidCacheKeyException("A key part of '" + spec.prefix()
                    + "' is null. Refuse null before the cached method, or set a condition, for example"
                    + " condition = \"#id != null\".");
        }
        if (part instanceof Enum<?> constant) {
            return constant.name();
        }
        if (!hasStableText(part.getClass())) {
            throw new InvalidCacheKeyException("A key part of '" + spec.prefix() + "' is a "
                    + part.getClass().getTypeName()
                    + ", which has no text that is the same for equal values. Use its id or a list of texts.");
        }
        return part.toString();
    }

    /**
     * Whether values of a type have the same text whenever they are equal: no arrays, no unordered collections, nothing
     * with the {@code toString()} of {@link Object}, in records neither.
     */
    public static boolean hasStableText(Class<?> type) {
        return STABLE_TEXT.get(type);
    }

    private static boolean findStableText(Class<?> type) {
        if (type.isArray() || Map.class.isAssignableFrom(type)) {
            return false;
        }
        if (Iterable.class.isAssignableFrom(type)) {
            return List.class.isAssignableFrom(type) || Path.class.isAssignableFrom(type);
        }
        if (type.isRecord()) {
            return Stream.of(type.getRecordComponents()).allMatch(part -> hasStableText(part.getType()));
        }
        return type.isPrimitive() || type.isInterface() || type == Object.class || hasOwnText(type);
    }

    private static boolean hasOwnText(Class<?> type) {
        try {
            return type.getMethod("toString").getDeclaringClass() != Object.class;
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** UTF-8 has no form for half a surrogate pair: two such texts would become one key. */
    static void requireText(String part) {
        for (int i = 0; i < part.length(); i++) {
            if (!Character.isSurrogate(part.charAt(i))) {
                continue;
            }
            if (i + 1 == part.length() || !Character.isSurrogatePair(part.charAt(i), part.charAt(++i))) {
                throw new InvalidCacheKeyException("A key part holds half a character (an unpaired surrogate), which"
                        + " no Redis key can hold. Check where the text was cut.");
            }
        }
    }
}
