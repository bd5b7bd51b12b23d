package io.easykit.cache;

import io.easykit.cache.type.DeclaredPart;
import io.easykit.cache.type.KeyText;
import io.easykit.cache.type.UnfitKeyException;
import io.easykit.cache.type.VisibleText;
import java.lang.reflect.Type;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The key of one entry: {@code <prefix>::<part>:<part>}. Different prefixes and parts never give the same key;
 * {@link KeyText} writes the parts. A store may write something of its own in front of it.
 *
 * @param <V> the value
 */
@SuppressWarnings("rawtypes") // a HashMap sorts colliding keys only if they compare to their raw class
public final class CacheKey<V> implements Comparable<CacheKey> {

    /** Stands for the parts of all entries. No part begins with it: in a text it is escaped. */
    private static final String ALL = "]";

    private final CacheSpec<V> spec;
    private final String name;
    private final boolean all;

    private CacheKey(CacheSpec<V> spec, String name) {
        this(spec, name, false);
    }

    private CacheKey(CacheSpec<V> spec, String name, boolean all) {
        this.spec = spec;
        this.name = name;
        this.all = all;
    }

    static <V> CacheKey<V> all(CacheSpec<V> spec) {
        return new CacheKey<>(spec, nameOfAll(spec.prefix()), true);
    }

    /** The name of the key that stands for all entries of a prefix, which is not checked. */
    public static String nameOfAll(String prefix) {
        return prefix + "::" + ALL;
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
        StringBuilder text = begin(spec);
        for (Object part : parts) {
            append(text, spec, part);
        }
        return new CacheKey<>(spec, text.toString());
    }

    static <V> CacheKey<V> of(CacheSpec<V> spec, @Nullable Object part) {
        if (part instanceof Long || part instanceof Integer) {
            // As KeyText writes it. Most keys are of this form, and need no buffer.
            return new CacheKey<>(spec, spec.prefix() + "::" + ((Number) part).longValue());
        }
        StringBuilder text = begin(spec);
        append(text, spec, part);
        return new CacheKey<>(spec, text.toString());
    }

    private static void append(StringBuilder text, CacheSpec<?> spec, @Nullable Object part) {
        try {
            KeyText.append(text.append(':'), spec.prefix(), part);
        } catch (UnfitKeyException unfit) {
            throw new InvalidCacheKeyException(String.valueOf(unfit.getMessage()));
        }
    }

    private static StringBuilder begin(CacheSpec<?> spec) {
        return new StringBuilder(spec.prefix().length() + 18)
                .append(spec.prefix())
                .append(':');
    }

    /**
     * The key of an entry, or of all entries of a prefix, by its name, to invalidate it. Of its cache only the prefix is
     * known.
     *
     * @throws InvalidCacheKeyException if it is not the {@link #name()} of a key
     */
    public static CacheKey<?> named(String clusterId, String name) {
        int end = name.indexOf("::");
        if (end < 0) {
            throw new InvalidCacheKeyException("'" + VisibleText.of(name) + "' is not the name of an entry.");
        }
        requireText(name);
        // CP: no old value is served after an update of it is prepared.
        CacheOptions options =
                CacheOptions.builder().consistency(Consistency.CP).build();
        CacheSpec<?> spec = new CacheSpec<>(clusterId, name.substring(0, end), Object.class, options);
        return new CacheKey<>(spec, name, name.substring(end + 2).equals(ALL));
    }

    /**
     * The key of an entry of a cache by its name.
     *
     * @throws InvalidCacheKeyException if it is not the {@link #name()} of an entry of this cache
     */
    public static <V> CacheKey<V> named(CacheSpec<V> spec, String name) {
        String begin = spec.prefix() + "::";
        if (name.equals(nameOfAll(spec.prefix()))) {
            throw new InvalidCacheKeyException("'" + VisibleText.of(name) + "' stands for all entries of '"
                    + spec.prefix() + "', and is not the name of one. Clear the cache instead.");
        }
        if (!name.startsWith(begin)) {
            throw new InvalidCacheKeyException("'" + VisibleText.of(name) + "' is not the name of an entry of '"
                    + spec.prefix() + "'. Such a name begins with '" + begin + "'.");
        }
        requireText(name);
        return new CacheKey<>(spec, name);
    }

    static void requireText(String text) {
        try {
            KeyText.requireText(text);
        } catch (UnfitKeyException unfit) {
            throw new InvalidCacheKeyException(String.valueOf(unfit.getMessage()));
        }
    }

    public CacheSpec<V> spec() {
        return spec;
    }

    /** Whether it stands for all entries of its cache, see {@link CacheSpec#all()}. */
    public boolean isAll() {
        return all;
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

    /** By name, then by cluster. Keeps maps fast whose keys were chosen to have one hash. */
    @Override
    public int compareTo(CacheKey other) {
        int order = name.compareTo(other.name);
        return order != 0 ? order : spec.clusterId().compareTo(other.spec.clusterId());
    }

    /** For log lines and messages: control characters are escaped, and a long name is cut. */
    @Override
    public String toString() {
        return all ? "all of '" + VisibleText.of(spec.prefix()) + "'" : VisibleText.of(name);
    }

    /**
     * Finds what keeps the values of a declared type from being parts of keys: an array, a set, a map, or a class whose
     * values have no text that is the same for equal and another for unequal ones.
     *
     * @return null if nothing does, or if it depends on the value
     */
    public static @Nullable Type unfitFor(Type declared) {
        return KeyText.unfit(declared);
    }

    /**
     * Whether a value of one declared type may be the same part of a key as a value of another one. If not, values of the two types
     * never name the same entry. Three rare values are not considered: an empty list, a {@code java.sql.Date} with a time of the day,
     * and a {@code java.sql.Time} of another day than 1970-01-01.
     */
    public static boolean mayBeSamePart(Type declared, Type other) {
        return DeclaredPart.of(declared).mayEqual(DeclaredPart.of(other));
    }
}
