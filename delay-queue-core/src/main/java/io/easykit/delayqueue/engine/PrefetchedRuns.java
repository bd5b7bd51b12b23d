package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.time.LoopExecutor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * The prefetched runs of a shard that have not started: see {@link PrefetchPolicy}. If one has not started after
 * {@link #MAX_QUEUE_TIME}, all of them are released to the store, so that another node can take them. If this node itself stood
 * still meanwhile, as in a pause of the garbage collector, the time begins anew, once. For the consumer's loop only.
 */
final class PrefetchedRuns {

    /** Twenty times the intended time. */
    private static final long MAX_QUEUE_TIME = TimeUnit.MILLISECONDS.toNanos(20);

    /** The loop is not that late unless the node stood still. */
    private static final long STOOD_STILL = TimeUnit.MILLISECONDS.toNanos(5);

    private final Deque<Waiting> oldestFirst = new ArrayDeque<>();

    private record Waiting(Run run, long until, boolean anew) {}

    /** A run that waits for a thread. */
    interface Run {

        /** Whether it has begun, or never will. */
        boolean hasStarted();

        /** Hands back its messages if it has not begun; it never will. */
        void cancelIfNotStarted();
    }

    void add(Run run, long now) {
        oldestFirst.add(new Waiting(run, now + MAX_QUEUE_TIME, false));
    }

    /** Whether a run has not started in time. */
    boolean haveTimedOut(long now) {
        Waiting first = oldestFirst.peek();
        while (first != null && first.run.hasStarted()) {
            oldestFirst.remove();
            first = oldestFirst.peek();
        }
        if (first == null || now - first.until < 0) {
            return false;
        }
        if (first.anew || now - first.until < STOOD_STILL) {
            return true;
        }
        waitAnew(now);
        return false;
    }

    /** All of them, in their order. */
    private void waitAnew(long now) {
        for (int i = oldestFirst.size(); i > 0; i--) {
            oldestFirst.add(new Waiting(oldestFirst.remove().run, now + MAX_QUEUE_TIME, true));
        }
    }

    /**
     * Hands back all runs that have not begun, the latest first. If a run that stays began after an older one has gone back,
     * messages would change their order.
     */
    void release() {
        while (!oldestFirst.isEmpty()) {
            oldestFirst.removeLast().run.cancelIfNotStarted();
        }
    }

    /** Time until the next run has waited too long. */
    long untilTimeout(long now) {
        Waiting first = oldestFirst.peek();
        return first == null ? LoopExecutor.NEVER : first.until - now;
    }
}
