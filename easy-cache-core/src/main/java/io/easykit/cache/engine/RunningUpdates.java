package io.easykit.cache.engine;

import io.easykit.cache.Action;
import io.easykit.cache.CacheKey;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The updates whose actions run now, by thread. An action may have changed the data already, so its own reads of these keys
 * must not get the older value, which other readers may have until the update ends.
 */
final class RunningUpdates {

    @SuppressWarnings("ThreadLocalUsage") // removed when the action ends
    private final ThreadLocal<Frame> innermost = new ThreadLocal<>();

    /** Updates of all threads. While there is none, a read does not search those of its thread. */
    private final AtomicInteger running = new AtomicInteger();

    <T, X extends Throwable> @Nullable T run(Collection<? extends CacheKey<?>> keys, Action<T, X> action) throws X {
        Frame outer = innermost.get();
        running.incrementAndGet();
        innermost.set(new Frame(Set.copyOf(keys), PrefixClearing.isIn(keys), outer));
        try {
            return action.run();
        } finally {
            if (outer == null) {
                innermost.remove();
            } else {
                innermost.set(outer);
            }
            running.decrementAndGet();
        }
    }

    /** Whether the calling thread is inside the action of an update of this key. */
    boolean include(CacheKey<?> key) {
        if (running.get() == 0) {
            return false;
        }
        for (Frame frame = innermost.get(); frame != null; frame = frame.outer) {
            if (frame.keys.contains(key)
                    || (frame.clears && frame.keys.contains(key.spec().all()))) {
                return true;
            }
        }
        return false;
    }

    private record Frame(Set<? extends CacheKey<?>> keys, boolean clears, @Nullable Frame outer) {}
}
