package io.easykit.cache;

import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Loads the values of several elements that are not cached, in most cases by one query.
 *
 * <p>A refresh in the background calls it on another thread, possibly after the caller has returned.
 *
 * @param <K> the elements, for example ids
 * @param <V> the values
 * @param <X> exception type; an exception reaches the caller as the very same object
 */
@FunctionalInterface
public interface BatchLoader<K, V, X extends Throwable> {

    /**
     * Loads values.
     *
     * @param missing the elements without a cached value, in the caller's order and without duplicates; cannot be changed
     * @return the value of each element. An element that is left out, or mapped to null, has no value, and that is cached.
     *     Other elements are an error
     */
    Map<K, V> load(Collection<K> missing) throws X;

    /**
     * Returns the same loader for another thread, where it may run after the caller has gone on. Called on the caller's
     * thread, so that mutable arguments are copied now.
     *
     * @return null if the load depends on the calling thread; then the caller loads on its own thread
     */
    default @Nullable BatchLoader<K, V, ?> forBackground() {
        return this;
    }
}
