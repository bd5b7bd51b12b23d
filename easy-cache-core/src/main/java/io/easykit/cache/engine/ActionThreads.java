package io.easykit.cache.engine;

import io.easykit.cache.Action;
import org.jspecify.annotations.Nullable;

/**
 * Finds the threads that an action in turn has created. The action may wait for them, so they must not wait for its turn. The
 * mark ends with the action: a thread that outlives it is like any other.
 */
final class ActionThreads {

    @SuppressWarnings("ThreadLocalUsage") // removed when the action ends; a mark that was inherited keeps flags only
    private final ThreadLocal<Mark> marks = new InheritableThreadLocal<>() {
        @Override
        protected @Nullable Mark childValue(@Nullable Mark parent) {
            return parent == null ? null : new Mark(parent.innermost, true);
        }
    };

    /** Runs an action of the calling thread, which has its turns. */
    <T, X extends Throwable> @Nullable T run(Action<T, X> action) throws X {
        Mark before = marks.get();
        Running running = new Running(before == null ? null : before.innermost);
        marks.set(new Mark(running, false));
        try {
            return action.run();
        } finally {
            running.ended = true;
            if (before == null) {
                marks.remove();
            } else {
                marks.set(before);
            }
        }
    }

    /** Whether an action that still runs has created the calling thread. */
    boolean includeCallingThread() {
        Mark mark = marks.get();
        if (mark == null || !mark.inherited) {
            return false;
        }
        for (Running action = mark.innermost; action != null; action = action.outer) {
            if (!action.ended) {
                return true;
            }
        }
        return false;
    }

    private record Mark(Running innermost, boolean inherited) {}

    private static final class Running {

        private final @Nullable Running outer;
        private volatile boolean ended;

        Running(@Nullable Running outer) {
            this.outer = outer;
        }
    }
}
