package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Whether a load is isolated from the uncommitted work of its caller.
 *
 * <p>A load that is not isolated may return an uncommitted or an old value. That value is returned to the caller, and neither
 * stored nor shared.
 */
public interface LoadScope extends AutoCloseable {

    /** The caller has no uncommitted work; loads run as they are. */
    LoadScope DIRECT = new LoadScope() {};

    /**
     * A scope whose loads cannot be isolated from uncommitted work.
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

    /** Why loads cannot be isolated from uncommitted work; null if they are isolated. */
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
