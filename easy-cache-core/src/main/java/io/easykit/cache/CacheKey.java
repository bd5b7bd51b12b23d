package io.easykit.cache;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The key of one entry: {@code ec:<prefix>::<part>:<part>}. Different prefixes and parts never give the same key: the
 * characters that have a meaning in it are escaped in the parts. The only class that spells Redis keys of entries.
 *
 * @param <V> the value
 */
public final class CacheKey<V> {

    private static final String NAMESPACE = "ec:";
    private static final String RESERVED = "\\:[],";

    private static final ClassValue<Boolean> STABLE_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return findStableText(type);
        }
    };

    private final CacheSpec<V> spec;
    private final String text;

    private CacheKey(CacheSpec<V> spec, String text) {
        this.spec = spec;
        this.text = text;
    }

    /** What keys of a cache look like, for example {@code ec:user::{#id}}. */
    static String pattern(CacheSpec<?> spec, List<String> parts) {
        return parts.stream().collect(Collectors.joining("}:{", NAMESPACE + spec.prefix() + "::{", "}"));
    }

    static <V> CacheKey<V> of(CacheSpec<V> spec, @Nullable Object[] parts) {
        if (parts.length == 0) {
            throw new InvalidCacheKeyException(
                    "A key of '" + spec.prefix() + "' has no part. Name at least one, or all calls share one entry.");
        }
        StringBuilder text =
                new StringBuilder(NAMESPACE.length() + spec.prefix().length() + 18);
        text.append(NAMESPACE).append(spec.prefix()).append(':');
        for (Object part : parts) {
            append(spec, text.append(':'), part);
        }
        return new CacheKey<>(spec, text.toString());
    }

    public CacheSpec<V> spec() {
        return spec;
    }

    /** The key in Redis. */
    public String text() {
        return text;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CacheKey<?> key
                && text.equals(key.text)
                && spec.clusterId().equals(key.spec.clusterId());
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return text;
    }

    private static void append(CacheSpec<?> spec, StringBuilder text, @Nullable Object part) {
        if (part instanceof Long || part instanceof Integer || part instanceof Boolean) {
            text.append(part);
        } else if (part instanceof String string) {
            escape(text, string);
        } else if (part instanceof List<?> list) {
            appendList(spec, text, list);
        } else {
            escape(text, textOf(spec, part));
        }
    }

    private static void appendList(CacheSpec<?> spec, StringBuilder text, List<?> list) {
        text.append('[');
        for (int i = 0; i < list.size(); i++) {
            append(spec, i == 0 ? text : text.append(','), list.get(i));
        }
        text.append(']');
    }

    private static void escape(StringBuilder text, String part) {
        requireText(part);
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            if (RESERVED.indexOf(c) >= 0) {
                text.append('\\');
            }
            text.append(c);
        }
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
