package io.easykit.delayqueue.engine;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The calls of a listener's handler that run on this node. */
final class RunningExecutions {

    private final Map<Object, Long> startedAt = new ConcurrentHashMap<>();

    /** Threads that are within a run. */
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    void begin(Object execution, long nanos) {
        startedAt.put(execution, nanos);
    }

    void end(Object execution) {
        startedAt.remove(execution);
    }

    /**
     * Does a part of a run on this thread: the call of the handler, or what follows when a thread of the application settles a
     * message. The run cannot end before, so a stop within this part does not wait for it.
     */
    <T extends @Nullable Object> T within(Supplier<T> part) {
        boolean isOutermost = threads.add(Thread.currentThread());
        try {
            return part.get();
        } finally {
            if (isOutermost) {
                threads.remove(Thread.currentThread());
            }
        }
    }

    void within(Runnable part) {
        Object unused = this.<@Nullable Object>within(() -> {
            part.run();
            return null;
        });
    }

    /** Whether the calling thread is within a run. */
    boolean isWithin() {
        return threads.contains(Thread.currentThread());
    }

    int count() {
        return startedAt.size();
    }

    /** How many nanoseconds the longest of them has lasted; 0 if none runs. */
    long oldest(long nanos) {
        return startedAt.values().stream()
                .mapToLong(start -> nanos - start)
                .max()
                .orElse(0);
    }
}
