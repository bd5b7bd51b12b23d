package io.easykit.cache;

import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** Lets only so many loads run at a time. */
final class LoadLimit {

    private final Semaphore places;
    private final ThreadLocal<Boolean> inside = new ThreadLocal<>();

    LoadLimit(int concurrentLoads) {
        this.places = new Semaphore(concurrentLoads, true);
    }

    <V> Loader<V, Throwable> around(Loader<V, ?> loader) {
        return () -> load(loader);
    }

    /** Whether the calling thread has a place already. */
    boolean isInside() {
        return inside.get() != null;
    }

    private <V> @Nullable V load(Loader<V, ?> loader) throws Throwable {
        places.acquireUninterruptibly();
        inside.set(true);
        try {
            return loader.load();
        } finally {
            inside.remove();
            places.release();
        }
    }
}
