package io.easykit.cache.engine;

import io.easykit.cache.LoadObserver;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A reload inside its observer. It runs exactly once, also if the observer fails. */
final class ObservedReload {

    private final Runnable reload;
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile @Nullable Throwable fault;

    private ObservedReload(Runnable reload) {
        this.reload = reload;
    }

    /**
     * Runs a reload. Throws the exceptions of the reload.
     *
     * @param observer a {@link SafeObserver}, which throws no exception of its own
     */
    static void run(LoadObserver observer, Runnable reload) {
        ObservedReload observed = new ObservedReload(reload);
        try {
            observer.runInBackground(observed::runOnce);
        } finally {
            observed.runOnce(); // also after an Error, or the entry would stay reserved for a reload
        }
        observed.rethrow();
    }

    private void runOnce() {
        if (begun.compareAndSet(false, true)) {
            try {
                reload.run();
            } catch (RuntimeException | Error thrown) {
                fault = thrown;
            }
        }
    }

    private void rethrow() {
        Throwable thrown = fault;
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
