package io.easykit.cache;

import io.easykit.cache.type.TypeFingerprint;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One cache: its prefix, its Redis, the type of its values, and its options. All declarations of a prefix in an application must
 * have the same options.
 *
 * @param <V> the values
 */
public final class CacheSpec<V> {

    public static final String DEFAULT_CLUSTER = "default";

    private final String clusterId;
    private final String prefix;
    private final Type type;
    private final CacheOptions options;
    private final String fingerprint;
    private final @Nullable Function<? super V, @Nullable Duration> valueTtl;

    /**
     * @param clusterId id of the Redis; {@value #DEFAULT_CLUSTER} is the application's own
     * @param prefix first part of every key; may have single colons inside, as in {@code user:v2}
     * @param type full generic type of the values, by which they are decoded
     * @throws InvalidCacheKeyException if the prefix is empty, or its colons could be taken for the end of it
     */
    public CacheSpec(String clusterId, String prefix, Type type, CacheOptions options) {
        this(clusterId, prefix, type, options, TypeFingerprint.of(type), null);
    }

    private CacheSpec(
            String clusterId,
            String prefix,
            Type type,
            CacheOptions options,
            String fingerprint,
            @Nullable Function<? super V, @Nullable Duration> valueTtl) {
        if (prefix.isBlank() || prefix.startsWith(":") || prefix.endsWith(":") || prefix.contains("::")) {
            throw new InvalidCacheKeyException("The prefix '" + prefix
                    + "' cannot start a key. Use a name such as 'user' or 'user:v2', without a colon at its ends"
                    + " and without two colons in a row.");
        }
        CacheKey.requireText(prefix);
        this.clusterId = clusterId;
        this.prefix = prefix;
        this.type = type;
        this.options = options;
        this.fingerprint = fingerprint;
        this.valueTtl = valueTtl;
    }

    public String clusterId() {
        return clusterId;
    }

    public String prefix() {
        return prefix;
    }

    public Type type() {
        return type;
    }

    public CacheOptions options() {
        return options;
    }

    /**
     * A short text that changes when the structure of the type changes. Values of another fingerprint, as another version
     * of the application stores them, are not read.
     */
    public String fingerprint() {
        return fingerprint;
    }

    /** The TTL of a value, decided by the value; null if all values have the TTL of the options. */
    public @Nullable Function<? super V, @Nullable Duration> valueTtl() {
        return valueTtl;
    }

    /** A cache on the application's own Redis with the default options. */
    public static <V> CacheSpec<V> of(String prefix, Class<V> type) {
        return of(prefix, (Type) type);
    }

    /**
     * A cache of generic values.
     *
     * @param type for example {@code new ParameterizedTypeReference<List<User>>() {}.getType()}. It must stand for {@code V}, which
     *     is not checked
     */
    public static <V> CacheSpec<V> of(String prefix, Type type) {
        return new CacheSpec<>(DEFAULT_CLUSTER, prefix, type, CacheOptions.defaults());
    }

    public CacheSpec<V> withClusterId(String value) {
        return new CacheSpec<>(value, prefix, type, options, fingerprint, valueTtl);
    }

    public CacheSpec<V> withOptions(CacheOptions value) {
        return new CacheSpec<>(clusterId, prefix, type, value, fingerprint, valueTtl);
    }

    /**
     * Lets each loaded value decide its own TTL, for example a token that knows how long it is valid:
     *
     * <pre>{@code
     * CacheSpec.of("token", Token.class).withValueTtl(Token::validFor)
     * }</pre>
     *
     * <p>The TTL of the options is the longest one: a longer TTL is cut to it, and it applies if the function returns null. A value
     * whose TTL is zero or negative is returned and not stored, and so is one for which the function throws. Null and
     * {@code Optional.empty()} have the null-TTL, and the function is not called for them. It runs after each load, on the
     * thread of the load. Two specs may be equal and have different functions.
     */
    public CacheSpec<V> withValueTtl(Function<? super V, @Nullable Duration> value) {
        return new CacheSpec<>(clusterId, prefix, type, options, fingerprint, value);
    }

    /**
     * The key of one entry, of one part.
     *
     * @param part a text, number, boolean, enum, UUID, date, locale, list or optional of these, record of these, or object whose
     *     fields are all final and of these
     * @throws InvalidCacheKeyException if the part is null, or is of another type, such as an array
     */
    public CacheKey<V> key(@Nullable Object part) {
        return CacheKey.of(this, part);
    }

    /**
     * The key of one entry, of two parts.
     *
     * @throws InvalidCacheKeyException if a part is null, or is of a type that {@link #key(Object)} does not accept
     */
    public CacheKey<V> key(@Nullable Object first, @Nullable Object second) {
        return CacheKey.of(this, new @Nullable Object[] {first, second});
    }

    /**
     * The key of one entry, of three parts.
     *
     * @throws InvalidCacheKeyException if a part is null, or is of a type that {@link #key(Object)} does not accept
     */
    public CacheKey<V> key(@Nullable Object first, @Nullable Object second, @Nullable Object third) {
        return CacheKey.of(this, new @Nullable Object[] {first, second, third});
    }

    /**
     * The key of one entry, of as many parts as the list has. The key of a list as a single part is {@code key(list)}.
     *
     * @throws InvalidCacheKeyException if there is no part, one is null, or is of a type that {@link #key(Object)} does not accept
     */
    public CacheKey<V> keyOf(List<? extends @Nullable Object> parts) {
        return CacheKey.of(this, parts.toArray());
    }

    /**
     * The key that stands for all entries of this cache, however many they are: to clear it in an update or an
     * invalidation. It names no entry, so nothing can be read by it.
     */
    public CacheKey<V> all() {
        return CacheKey.all(this);
    }

    /**
     * Shape of its keys, for people. In Redis the key prefix stands in front of it.
     *
     * @param parts what stands for the parts, for example {@code #id}
     */
    public String keyPattern(List<String> parts) {
        return CacheKey.pattern(this, parts);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CacheSpec<?> spec
                && clusterId.equals(spec.clusterId)
                && prefix.equals(spec.prefix)
                && type.equals(spec.type)
                && options.equals(spec.options);
    }

    @Override
    public int hashCode() {
        return Objects.hash(clusterId, prefix, type, options);
    }

    @Override
    public String toString() {
        return "CacheSpec[clusterId=" + clusterId + ", prefix=" + prefix + ", type=" + type.getTypeName() + ", options="
                + options + "]";
    }
}
