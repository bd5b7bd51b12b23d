package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheOptions;
import io.easykit.cache.LoadScope;
import io.easykit.cache.Loader;
import io.easykit.cache.Reload;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One call of a reader.
 *
 * @param storable whether a loaded value may be stored
 * @param arrived when the reader came, in nanoseconds of the ticker
 * @param scope where its loads run
 * @param floor null for an ordinary reader; else it gets no stale value, and nothing older than this moment
 */
record Read<V>(
        CacheKey<V> key,
        Loader<V, ?> loader,
        Predicate<@Nullable V> storable,
        long arrived,
        LoadScope scope,
        @Nullable Long floor) {

    /** An ordinary reader. */
    Read(CacheKey<V> key, Loader<V, ?> loader, Predicate<@Nullable V> storable, long arrived) {
        this(key, loader, storable, arrived, LoadScope.DIRECT, null);
    }

    CacheOptions options() {
        return key.spec().options();
    }

    /** The same call with another loader. */
    Read<V> with(Loader<V, ?> other) {
        return new Read<>(key, other, storable, arrived, scope, floor);
    }

    /** The same call with its loads in another scope. */
    Read<V> in(LoadScope other) {
        return other == scope ? this : new Read<>(key, other.around(loader), storable, arrived, other, floor);
    }

    /** The same call for another thread; null if its load has to stay on this one. */
    @Nullable Read<V> forBackground() {
        Loader<V, ?> loaderThere = options().reload() == Reload.BACKGROUND ? loader.forBackground() : null;
        return loaderThere == null ? null : with(loaderThere);
    }

    /** The same call, which gets no stale value, and nothing older than a moment. */
    Read<V> notBefore(long moment) {
        Long later = floor != null && floor - moment > 0 ? floor : Long.valueOf(moment);
        return new Read<>(key, loader, storable, arrived, scope, later);
    }

    /** Whether it may be given a value that has been invalidated, inside the stale window. */
    boolean takesStale() {
        return floor == null && options().takesOld();
    }

    /** How much of its waiting time is left, in nanoseconds; not positive when it is over. */
    long patience(Ticker ticker) {
        return options().waiting().toNanos() - (ticker.nanoTime() - arrived);
    }

    /**
     * Whether it may be given a result that was current at a moment: after the reader came or, AP, less than the stale
     * window before that.
     */
    boolean accepts(long asOf) {
        return asOf - arrived >= 0
                || (arrived - asOf < options().window().toNanos() && (floor == null || asOf - floor >= 0));
    }
}
