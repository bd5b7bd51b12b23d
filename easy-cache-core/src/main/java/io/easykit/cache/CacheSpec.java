package io.easykit.cache;

import java.lang.reflect.Type;
import java.util.List;

/**
 * One cache: a prefix on one Redis, what its values are and how its entries live. Every declaration of a prefix in one
 * application carries the same options.
 *
 * @param <V> the values
 * @param clusterId which Redis; {@value #DEFAULT_CLUSTER} is the application's own
 * @param prefix first part of every key; may have single colons inside, as in {@code user:v2}
 * @param type the values' full generic type, from which they are restored
 */
public record CacheSpec<V>(String clusterId, String prefix, Type type, CacheOptions options) {

    public static final String DEFAULT_CLUSTER = "default";

    /**
     * @throws InvalidCacheKeyException if the prefix is empty, or its colons could be taken for the end of it
     */
    public CacheSpec {
        if (prefix.isBlank() || prefix.startsWith(":") || prefix.endsWith(":") || prefix.contains("::")) {
            throw new InvalidCacheKeyException("The prefix '" + prefix
                    + "' cannot start a key. Use a name such as 'user' or 'user:v2', without a colon at its ends"
                    + " and without two colons in a row.");
        }
        KeyText.requireText(prefix);
    }

    /** A cache on the application's own Redis with the default options. */
    public static <V> CacheSpec<V> of(String prefix, Class<V> type) {
        return ofGeneric(prefix, type);
    }

    /**
     * A cache of generic values.
     *
     * @param type for example {@code new ParameterizedTypeReference<List<User>>() {}.getType()}; that it speaks of
     *     {@code V} is the caller's word
     */
    public static <V> CacheSpec<V> ofGeneric(String prefix, Type type) {
        return new CacheSpec<>(DEFAULT_CLUSTER, prefix, type, CacheOptions.defaults());
    }

    public CacheSpec<V> withClusterId(String value) {
        return new CacheSpec<>(value, prefix, type, options);
    }

    public CacheSpec<V> withOptions(CacheOptions value) {
        return new CacheSpec<>(clusterId, prefix, type, value);
    }

    /**
     * The key of one entry.
     *
     * @param parts texts, numbers, booleans, enums, UUIDs, dates, locales, lists and optionals of these, records of
     *     these, and objects whose fields are all final and of these
     * @throws InvalidCacheKeyException if there is no part, one is null, or one is of another type
     */
    public CacheKey<V> key(Object... parts) {
        return CacheKey.of(this, parts);
    }

    /**
     * Shape of its keys, for people. In Redis the key prefix stands in front of it.
     *
     * @param parts what stands for the parts, for example {@code #id}
     */
    public String keyPattern(List<String> parts) {
        return CacheKey.pattern(this, parts);
    }
}
