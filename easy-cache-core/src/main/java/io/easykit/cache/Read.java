package io.easykit.cache;

import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One call of a reader.
 *
 * @param storable whether a loaded value may be stored
 * @param arrived when the reader came, in nanoseconds of the ticker
 * @param scope where its loads run
 */
record Read<V>(CacheKey<V> key, Loader<V, ?> loader, Predicate<@Nullable V> storable, long arrived, LoadScope scope) {

    Read(CacheKey<V> key, Loader<V, ?> loader, Predicate<@Nullable V> storable, long arrived) {
        this(key, loader, storable, arrived, LoadScope.DIRECT);
    }

    CacheOptions options() {
        return key.spec().options();
    }

    /** The same call with another loader. */
    Read<V> with(Loader<V, ?> other) {
        return new Read<>(key, other, storable, arrived, scope);
    }

    /** The same call with its loads in another scope. */
    Read<V> in(LoadScope other) {
        return new Read<>(key, loader, storable, arrived, other);
    }

    /** How much of its waiting time is left, in nanoseconds; not positive when it is over. */
    long patience(Ticker ticker) {
        return options().waiting().toNanos() - (ticker.nanoTime() - arrived);
    }

    /** Whether something seen at that moment, up to {@code age} before this reader came, may be given to it. */
    boolean accepts(long asOf, Duration age) {
        return asOf - arrived >= 0 || arrived - asOf < age.toNanos();
    }
}
