package io.easykit.delayqueue.engine;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The calls of a listener's handler that run on this node. */
final class RunningExecutions {

    private final Map<Object, Long> startedAt = new ConcurrentHashMap<>();

    void begin(Object execution, long nanos) {
        startedAt.put(execution, nanos);
    }

    void end(Object execution) {
        startedAt.remove(execution);
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
