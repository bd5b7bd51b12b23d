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

    /**
     * The same loader for another thread, where it may run when the caller has gone on. Called on the caller's thread, so
     * that what the caller may change later is copied now.
     *
     * @return null if the load depends on the calling thread; then one reader loads on its own thread
     */
    default @Nullable Loader<V, ?> forBackground() {
        return this;
    }
}
