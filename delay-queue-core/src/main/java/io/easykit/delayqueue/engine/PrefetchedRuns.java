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

    private record Waiting(MessageExecution run, long until, boolean anew) {}

    void add(MessageExecution run, long now) {
        oldestFirst.add(new Waiting(run, now + MAX_QUEUE_TIME, false));
    }

    /** Whether a run has not started in time. */
    boolean haveTimedOut(long now) {
        for (Waiting first = oldestFirst.peek(); first != null; first = oldestFirst.peek()) {
            boolean mayWaitAnew = !first.anew && now - first.until >= STOOD_STILL;
            if (!first.run.hasStarted() && !mayWaitAnew) {
                return now - first.until >= 0;
            }
            oldestFirst.remove();
            if (!first.run.hasStarted()) {
                oldestFirst.add(new Waiting(first.run, now + MAX_QUEUE_TIME, true));
            }
        }
        return false;
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
