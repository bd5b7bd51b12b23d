package io.easykit.cache;

import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The updates whose actions the calling thread runs now. The action may have changed the data already, so its own reads of
 * these keys must not get the older value, which other readers may have until the update ends.
 */
final class RunningUpdates {

    private static final ThreadLocal<RunningUpdates> CURRENT = new ThreadLocal<>();

    /** Of all threads. While there is none, a read does not look for those of its thread. */
    private static final AtomicInteger RUNNING = new AtomicInteger();

    private final Collection<? extends CacheKey<?>> keys;
    private final @Nullable RunningUpdates outer;

    private RunningUpdates(Collection<? extends CacheKey<?>> keys, @Nullable RunningUpdates outer) {
        this.keys = keys;
        this.outer = outer;
    }

    static <T, X extends Throwable> @Nullable T run(Collection<? extends CacheKey<?>> keys, Action<T, X> action)
            throws X {
        RunningUpdates outer = CURRENT.get();
        RUNNING.incrementAndGet();
        CURRENT.set(new RunningUpdates(keys, outer));
        try {
            return action.run();
        } finally {
            if (outer == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(outer);
            }
            RUNNING.decrementAndGet();
        }
    }

    /** Whether the calling thread is inside the action of an update of this key. */
    static boolean include(CacheKey<?> key) {
        if (RUNNING.get() == 0) {
            return false;
        }
        for (RunningUpdates update = CURRENT.get(); update != null; update = update.outer) {
            if (update.keys.contains(key)) {
                return true;
            }
        }
        return false;
    }
}
