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
            Running around = parent == null ? null : stillRunning(parent.innermost);
            return around == null ? null : new Mark(around, true);
        }
    };

    /** Runs an action of the calling thread, which has its turns. */
    <T, X extends Throwable> @Nullable T run(Action<T, X> action) throws X {
        Mark before = marks.get();
        Running running = new Running(before == null ? null : stillRunning(before.innermost));
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
        return mark != null && mark.inherited && stillRunning(mark.innermost) != null;
    }

    /** How many actions the mark of the calling thread keeps in memory. */
    int depth() {
        Mark mark = marks.get();
        int depth = 0;
        for (Running action = mark == null ? null : mark.innermost; action != null; action = action.outer) {
            depth++;
        }
        return depth;
    }

    /**
     * The innermost of an action and those around it that still runs. Forgets the ended ones around it: a thread that replaces
     * itself by a new one, inside an action each time, would keep all of them.
     */
    private static @Nullable Running stillRunning(@Nullable Running innermost) {
        Running action = innermost;
        while (action != null && action.ended) {
            action = action.outer;
        }
        if (action != null) {
            action.outer = stillRunning(action.outer);
        }
        return action;
    }

    private record Mark(Running innermost, boolean inherited) {}

    private static final class Running {

        private volatile @Nullable Running outer;
        private volatile boolean ended;

        Running(@Nullable Running outer) {
            this.outer = outer;
        }
    }
}
