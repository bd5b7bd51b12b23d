package io.easykit.delayqueue.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * The runs of a shard that were claimed ahead of a free place, until they begin: see {@link Prefetch}. One that has not begun
 * when its time is over goes back to the store, so that another node takes it. When this node itself stood still meanwhile,
 * as in a pause of the garbage collector, its time begins anew, once. For the consumer's loop only.
 */
final class RunsAhead {

    /** Twenty times what it should take. */
    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(20);

    /** The loop is not that late unless the node stood still. */
    private static final long STOOD_STILL = TimeUnit.MILLISECONDS.toNanos(5);

    private final Deque<Waiting> oldestFirst = new ArrayDeque<>();

    private record Waiting(HandlerRun run, long until, boolean anew) {}

    void add(HandlerRun run, long now) {
        oldestFirst.add(new Waiting(run, now + PATIENCE, false));
    }

    /** Whether there is one that has waited in vain. */
    boolean waitInVain(long now) {
        for (Waiting first = oldestFirst.peek(); first != null; first = oldestFirst.peek()) {
            boolean mayWaitAnew = !first.anew && now - first.until >= STOOD_STILL;
            if (!first.run.hasBegun() && !mayWaitAnew) {
                return now - first.until >= 0;
            }
            oldestFirst.remove();
            if (!first.run.hasBegun()) {
                oldestFirst.add(new Waiting(first.run, now + PATIENCE, true));
            }
        }
        return false;
    }

    /**
     * Hands back all runs that have not begun, the latest first. If a run that stays began after an older one has gone back,
     * messages would change their order.
     */
    void handBack() {
        while (!oldestFirst.isEmpty()) {
            oldestFirst.removeLast().run.abandon();
        }
    }

    /** For how long none has waited in vain. */
    long rest(long now) {
        Waiting first = oldestFirst.peek();
        return first == null ? ShardScope.NEVER : first.until - now;
    }
}
