package io.easykit.cache;

import org.jspecify.annotations.Nullable;

/**
 * Observes loads, for traces. Unlike a {@link CacheListener} it is called before a load begins, on the thread that runs the load.
 * Must be quick. Exceptions are logged and ignored.
 */
@FunctionalInterface
public interface LoadObserver {

    LoadObserver NONE = key -> Observed.NONE;

    /** Begins the observation of a load, before its loader runs. A load inside another one begins and ends inside it. */
    Observed begin(CacheKey<?> key);

    /**
     * Runs a reload for which no caller waits, on the calling thread. That thread may have inherited the context of the reader
     * that caused it.
     */
    default void runInBackground(Runnable reload) {
        reload.run();
    }

    /** The observation of one load. */
    @FunctionalInterface
    interface Observed {

        Observed NONE = (outcome, failure) -> {};

        /**
         * The loader has returned a stage, and its value is still to come. Called on the thread of {@link #begin}, which goes on
         * with other work. {@link #end} may come on another thread.
         */
        default void leave() {}

        /**
         * Ends the observation after the value was stored or not, on the thread of the load unless it has {@linkplain #leave left}.
         *
         * @param failure the exception of the loader; null if there was none
         */
        void end(CacheListener.Load outcome, @Nullable Throwable failure);
    }
}
