package io.easykit.delayqueue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * The runs of a shard that were claimed ahead of a free place, until they begin: see {@link Prefetch}. One that has not begun
 * when its time is over goes back to the store, so that another node takes it. For the consumer's loop only.
 */
final class RunsAhead {

    /** Twenty times what it should take; a pause of the garbage collector alone hands nothing back. */
    private static final long PATIENCE = TimeUnit.MILLISECONDS.toNanos(20);

    private final Deque<Waiting> oldestFirst = new ArrayDeque<>();

    private record Waiting(HandlerRun run, long until) {}

    void add(HandlerRun run, long now) {
        oldestFirst.add(new Waiting(run, now + PATIENCE));
    }

    /** Hands back what has waited in vain; returns whether there was any. */
    boolean handBack(long now) {
        boolean any = false;
        for (Waiting first = oldestFirst.peek(); first != null; first = oldestFirst.peek()) {
            if (first.run.hasBegun()) {
                oldestFirst.remove();
            } else if (now - first.until >= 0) {
                oldestFirst.remove().run.abandon();
                any = true;
            } else {
                return any;
            }
        }
        return any;
    }

    /** For how long none has waited in vain. */
    long rest(long now) {
        Waiting first = oldestFirst.peek();
        return first == null ? ShardScope.NEVER : first.until - now;
    }
}
