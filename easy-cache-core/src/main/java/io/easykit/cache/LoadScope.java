package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Where a load runs: apart from the unfinished work of its caller, or amid it.
 *
 * <p>A load that runs amid unfinished work may return an uncommitted or an old value. That value is returned to the caller,
 * and neither stored nor shared.
 */
public interface LoadScope extends AutoCloseable {

    /** The caller has no unfinished work; loads run as they are. */
    LoadScope DIRECT = new LoadScope() {};

    /**
     * Loads cannot be kept apart from unfinished work.
     *
     * @param reason for the log; completes "it was loaded ..."
     */
    static LoadScope attached(String reason) {
        return new LoadScope() {
            @Override
            public String attachedReason() {
                return reason;
            }
        };
    }

    /** Why loads cannot be kept apart from unfinished work; null if they are. */
    default @Nullable String attachedReason() {
        return null;
    }

    /** Runs a load, isolated from the state that earlier loads left. */
    default <T, X extends Throwable> @Nullable T run(Action<T, X> load) throws X {
        return load.run();
    }

    /** The loader as it runs inside {@link #run}: in a transaction of its own, if its caller has one. */
    default <V, X extends Throwable> Loader<V, X> around(Loader<V, X> loader) {
        return loader;
    }

    /** Releases the reservations of the scope. */
    @Override
    default void close() {}
}
