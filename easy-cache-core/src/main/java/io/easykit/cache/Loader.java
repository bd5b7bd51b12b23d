package io.easykit.cache;

import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Loads a value that is not cached, in most cases by a query.
 *
 * <p>A refresh in the background calls it on another thread, possibly after the caller has returned.
 *
 * @param <V> the value
 * @param <X> exception type; an exception reaches the caller as the very same object
 */
@FunctionalInterface
public interface Loader<V, X extends Throwable> {

    @Nullable V load() throws X;

    /**
     * Returns the same loader for another thread, where it may run after the caller has gone on. Called on the caller's
     * thread, so that mutable arguments are copied now.
     *
     * @return null if the load depends on the calling thread; then one reader loads on its own thread
     */
    default @Nullable Loader<V, ?> forBackground() {
        return this;
    }

    /** A loader whose value arrives later. {@link #load} waits for it; {@link #begin} does not. */
    interface Later<V> extends Loader<V, Throwable> {

        /** Begins a load. Returns a stage with the value, or null for no value. */
        @Nullable CompletionStage<? extends V> begin() throws Throwable;

        /**
         * Checks a read that is no hit, on the thread that will call {@link #begin}, before the read uses any load of others.
         *
         * @return false if the value must be loaded without the cache
         * @throws RuntimeException if the read is refused. It is the failure of the read
         */
        default boolean mayBeCached() {
            return true;
        }

        /**
         * Checks the load when it has ended, before other readers may have its result. Called on the same kind of thread as
         * {@link #begin}.
         *
         * @return false if its result may belong to another key. Then it is for the caller alone
         */
        default boolean belongsToKey() {
            return true;
        }
    }
}
