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
 * @param startedAt ticker time at which the reader came
 * @param scope where its loads run
 * @param notOlderThan null for an ordinary reader; else the reader gets no stale value, and nothing older than this ticker time
 * @param pausable whether it does not load while loads of its key are paused, see {@link StaleOnError}
 */
record ReadRequest<V>(
        CacheKey<V> key,
        Loader<V, ?> loader,
        Predicate<@Nullable V> storable,
        long startedAt,
        LoadScope scope,
        @Nullable Long notOlderThan,
        boolean pausable) {

    /** An ordinary reader. */
    ReadRequest(CacheKey<V> key, Loader<V, ?> loader, Predicate<@Nullable V> storable, long startedAt) {
        this(key, loader, storable, startedAt, LoadScope.DIRECT, null, false);
    }

    CacheOptions options() {
        return key.spec().options();
    }

    /** The same call with another loader. */
    ReadRequest<V> with(Loader<V, ?> other) {
        return new ReadRequest<>(key, other, storable, startedAt, scope, notOlderThan, pausable);
    }

    /** The same call with its loads in another scope. */
    ReadRequest<V> in(LoadScope other) {
        return other == scope
                ? this
                : new ReadRequest<>(key, other.around(loader), storable, startedAt, other, notOlderThan, pausable);
    }

    /** The same call for another thread; null if its load has to stay on this one. */
    @Nullable ReadRequest<V> forBackground() {
        Loader<V, ?> loaderThere = options().reload() == Reload.BACKGROUND ? loader.forBackground() : null;
        return loaderThere == null ? null : with(loaderThere);
    }

    /** The same call, which gets no stale value, and nothing older than a moment. */
    ReadRequest<V> notBefore(long moment) {
        Long later = notOlderThan != null && notOlderThan - moment > 0 ? notOlderThan : Long.valueOf(moment);
        return new ReadRequest<>(key, loader, storable, startedAt, scope, later, false);
    }

    /** The same call, which does not load while loads of its key are paused. */
    ReadRequest<V> withPauses() {
        return new ReadRequest<>(key, loader, storable, startedAt, scope, notOlderThan, true);
    }

    /** Whether it may be given a value that has been invalidated, inside the stale window. */
    boolean allowsStale() {
        return notOlderThan == null && options().allowsStale();
    }

    /** How much of its waiting time is left, in nanoseconds; not positive when it is over. */
    long remainingWait(Ticker ticker) {
        return options().loadWaitTimeout().toNanos() - (ticker.nanoTime() - startedAt);
    }

    /**
     * Whether this reader may get a result that was current at a ticker time: after the reader came or, under AP, at most the
     * stale window before. The result is never older than {@link #notOlderThan}, which may be later than the reader's arrival:
     * until an invalidation is delivered, the store accepts values that are older than the update.
     */
    boolean isFreshEnough(long asOf) {
        boolean recent = asOf - startedAt >= 0
                || startedAt - asOf < options().effectiveStaleWindow().toNanos();
        return recent && (notOlderThan == null || asOf - notOlderThan >= 0);
    }
}
