package io.easykit.delayqueue;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The places of a listener: as many as it may call its handler at a time, shared by the consumers of its shards. A place
 * that becomes free belongs to the consumer that has waited longest, so a busy shard cannot starve the others.
 */
final class Places {

    private final Queue<Waiter> waiting = new ArrayDeque<>();
    private int free;

    Places(int count) {
        this.free = count;
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

    /** Takes up to so many, at least 1; where there is none, the next one is kept for the waiter, and it is woken. */
    synchronized int take(Waiter waiter, int most) {
        int kept = waiter.granted ? 1 : 0;
        int more = Math.min(most - kept, free);
        free -= more;
        waiter.granted = false;
        if (kept + more == 0 && !waiter.queued) {
            waiter.queued = true;
            waiting.add(waiter);
        }
        return kept + more;
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

    void giveBack(int count) {
        for (int i = 0; i < count; i++) {
            Waiter next = next();
            if (next != null) {
                next.wake.run();
            }
        }
    }

    private synchronized @Nullable Waiter next() {
        Waiter next = waiting.poll();
        if (next == null) {
            free++;
        } else {
            next.queued = false;
            next.granted = true;
        }
        return next;
    }
}
