package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.store.Envelope;
import io.easykit.cache.store.Envelope.Kind;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TTLs of loaded values: that of their cache, or a shorter one that the value itself decides. The latter is stored with the
 * value, so every node refreshes the value in the last tenth of it. The TTL of the cache is the longest one, because the
 * bounds of staleness that are printed at the start depend on it.
 */
final class ValueTtls {

    private static final Logger log = LoggerFactory.getLogger(ValueTtls.class);

    private final Set<String> failed = ConcurrentHashMap.newKeySet();

    /**
     * The TTL that a loaded value decides.
     *
     * @return null if the TTL of the cache applies; zero if the value must not be stored
     */
    <V> @Nullable Duration ownOf(@Nullable V value, CacheKey<V> key) {
        Function<? super V, @Nullable Duration> valueTtl = key.spec().valueTtl();
        if (valueTtl == null || isNothing(value)) {
            return null;
        }
        CacheOptions options = key.spec().options();
        try {
            Duration own = valueTtl.apply(value);
            if (own == null || own.compareTo(options.ttl()) >= 0) {
                return null;
            }
            return own.isNegative() || own.toMillis() == 0 ? Duration.ZERO : own;
        } catch (Exception | LinkageError | StackOverflowError failure) {
            warn(key, failure);
            return Duration.ZERO;
        }
    }

    /** How long a loaded value lives in the store at most; zero if it must not be stored. */
    <V> Duration of(@Nullable V value, CacheKey<V> key) {
        Duration own = ownOf(value, key);
        CacheOptions options = key.spec().options();
        Duration ofCache = isNothing(value) ? options.nullTtl() : options.ttl();
        return own == null ? ofCache : own;
    }

    private void warn(CacheKey<?> key, Throwable failure) {
        String prefix = key.spec().prefix();
        if (failed.add(prefix)) {
            log.warn(
                    "The TTL of the value of {} cannot be computed, so the value is returned and not cached: {}. Correct the"
                            + " function, or the expression in ttl. Logged once for '{}'.",
                    key,
                    ErrorText.of(failure),
                    prefix);
        }
        log.debug("The TTL of the value of {} cannot be computed", key, ErrorText.printable(failure));
    }

    /**
     * How long a value lives that is stored now, a little shorter by chance.
     *
     * @param random from 0 to 1
     */
    static Duration ttl(Envelope bytes, CacheOptions options, double random) {
        Duration whole = bytes.ttl();
        if (whole == null) {
            whole = isNothing(bytes) ? options.nullTtl() : options.ttl();
        }
        double cut = options.ttlJitter() * random;
        return whole.minusMillis((long) (whole.toMillis() * cut));
    }

    /** The last part of a value's life in which it is refreshed. The script {@code fetch} decides the same. */
    static Duration refreshAhead(Envelope bytes, CacheOptions options) {
        return isNothing(bytes) ? options.effectiveNullRefreshAhead() : refreshAhead(bytes.ttl(), options);
    }

    /** @param own the TTL that the value decided; null if it did not */
    static Duration refreshAhead(@Nullable Duration own, CacheOptions options) {
        Duration ahead = options.effectiveRefreshAhead();
        Duration tenth = own == null ? ahead : own.dividedBy(10);
        return tenth.compareTo(ahead) < 0 ? tenth : ahead;
    }

    private static boolean isNothing(@Nullable Object value) {
        return value == null || (value instanceof Optional<?> optional && optional.isEmpty());
    }

    private static boolean isNothing(Envelope bytes) {
        return bytes.kind() != Kind.VALUE;
    }
}
