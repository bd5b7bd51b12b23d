package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Where a value comes from when the cache has none: in most cases a query.
 *
 * <p>A refresh in the background calls it on another thread, possibly after the caller has gone.
 *
 * @param <V> the value
 * @param <X> what it throws; reaches the caller as the very same object
 */
@FunctionalInterface
public interface Loader<V, X extends Throwable> {

    @Nullable V load() throws X;
}
