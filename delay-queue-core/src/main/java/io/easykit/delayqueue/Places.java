package io.easykit.delayqueue;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The places of a listener: as many as it may call its handler at a time, shared by the consumers of its shards; and some
 * more to wait for one where the handler is quick ({@link Prefetch}). A place that becomes free belongs to the consumer that
 * has waited longest, so a busy shard cannot starve the others.
 */
final class Places {

    private final Queue<Waiter> waiting = new ArrayDeque<>();
    private final int count;
    private final Prefetch prefetch;
    private int taken;

    /** @param ahead how many more may be taken at most */
    Places(int count, int ahead) {
        this.count = count;
        this.prefetch = new Prefetch(count, ahead);
    }

    /** Somebody who takes places. */
    static final class Waiter {

        private final Runnable wake;
        private boolean queued;
        private boolean granted;

        /** @param wake called when a place is kept for this waiter; returns at once */
        Waiter(Runnable wake) {
            this.wake = wake;
        }
    }

    /**
     * What somebody has taken.
     *
     * @param all  how many
     * @param free of these, how many are free now; the others have to wait for one
     */
    record Taken(int all, int free) {

        static final Taken NONE = new Taken(0, 0);
    }

    /** Takes up to so many, at least 1; where there is none, the next one is kept for the waiter, and it is woken. */
    synchronized Taken take(Waiter waiter, int most) {
        int kept = waiter.granted ? 1 : 0;
        int free = count - taken + kept;
        int all = kept + Math.min(most - kept, Math.max(0, room()));
        taken += all - kept;
        waiter.granted = false;
        if (all == 0 && !waiter.queued) {
            waiter.queued = true;
            waiting.add(waiter);
        }
        return new Taken(all, Math.max(0, Math.min(all, free)));
    }

    /** The waiter needs none now, and gives back what was kept for it. */
    void decline(Waiter waiter) {
        boolean granted;
        synchronized (this) {
            granted = waiter.granted;
            waiter.granted = false;
            if (waiter.queued) {
                waiter.queued = false;
                waiting.remove(waiter);
            }
        }
        giveBack(granted ? 1 : 0);
    }

    /** A run has ended, so many nanoseconds after its begin, or -1 if it never began. */
    void end(long nanos) {
        if (nanos >= 0) {
            ran(nanos);
        }
        giveBack(1);
    }

    private synchronized void ran(long nanos) {
        prefetch.ran(nanos);
    }

    /** A run that was claimed ahead found no place in time. */
    synchronized void waitedInVain() {
        prefetch.waitedInVain();
    }

    void giveBack(int some) {
        for (int i = 0; i < some; i++) {
            Waiter next = next();
            if (next != null) {
                next.wake.run();
            }
        }
    }

    private synchronized @Nullable Waiter next() {
        taken--;
        Waiter next = room() > 0 ? waiting.poll() : null;
        if (next != null) {
            taken++;
            next.queued = false;
            next.granted = true;
        }
        return next;
    }

    private int room() {
        return count + prefetch.ahead() - taken;
    }
}
