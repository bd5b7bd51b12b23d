package io.easykit.delayqueue.engine;

import java.util.LinkedList;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The permits of a listener: one for each call of its handler at a time, shared by the consumers of its shards. If the
 * handler is quick, there are some more for messages that wait for a permit ({@link PrefetchPolicy}). A permit that becomes
 * free goes to the consumer that has waited longest, so a busy shard cannot starve the others.
 *
 * <p>No prefetching while a consumer waits for a free permit, or while a suspected poison message runs, which is one that has
 * lost a lease: a crash would expire all prefetched leases.
 */
final class ConcurrencyLimiter {

    @SuppressWarnings("JdkObsolete") // an ArrayDeque that lacks the memory to grow forgets those that wait
    private final Queue<Waiter> waiting = new LinkedList<>();

    private final int count;
    private final PrefetchPolicy prefetch;
    private int permits;
    private int poisonSuspects;
    private int nonPrefetchWaiters;

    /** @param ahead maximum number of permits for prefetched calls */
    ConcurrencyLimiter(int count, int ahead, LongSupplier nanos) {
        this.count = count;
        this.prefetch = new PrefetchPolicy(count, ahead, nanos);
    }

    /** A consumer that takes permits. */
    static final class Waiter {

        private final Runnable wake;
        private boolean queued;
        private boolean needsNonPrefetch;
        private boolean granted;

        /** @param wake called when a permit is reserved for this waiter; returns at once */
        Waiter(Runnable wake) {
            this.wake = wake;
        }
    }

    /**
     * Permits that were taken.
     *
     * @param all  number of permits
     * @param free of these, permits that are free now; the others are for prefetched messages
     */
    record Permits(int all, int free) {

        static final Permits NONE = new Permits(0, 0);
    }

    /** Takes up to {@code most} permits. If none is free, the waiter is queued, and woken when a permit is reserved for it. */
    synchronized Permits take(Waiter waiter, int most) {
        int kept = waiter.granted ? 1 : 0;
        int free = count - permits + kept;
        int all = kept + Math.min(most - kept, Math.max(0, room()));
        // Made first: without memory for it no permit is taken.
        Permits taken = new Permits(all, Math.max(0, Math.min(all, free)));
        permits += all - kept;
        waiter.granted = false;
        if (all == 0) {
            queue(waiter, false);
        }
        return taken;
    }

    /** Keeps the next free permit for the waiter and wakes it. Its messages must not be prefetched. */
    void awaitNonPrefetch(Waiter waiter) {
        if (isKeptAtOnce(waiter)) {
            waiter.wake.run();
        }
    }

    private synchronized boolean isKeptAtOnce(Waiter waiter) {
        if (!waiter.granted) {
            queue(waiter, true);
            if (permits < count) {
                waiting.remove(waiter);
                grant(waiter);
            }
        }
        return waiter.granted;
    }

    private void grant(Waiter waiter) {
        leave(waiter);
        waiter.granted = true;
        permits++;
    }

    private void leave(Waiter waiter) {
        waiter.queued = false;
        nonPrefetchWaiters -= waiter.needsNonPrefetch ? 1 : 0;
        waiter.needsNonPrefetch = false;
    }

    private void queue(Waiter waiter, boolean needsNonPrefetch) {
        if (!waiter.queued) {
            waiting.add(waiter);
            waiter.queued = true;
        }
        if (needsNonPrefetch && !waiter.needsNonPrefetch) {
            waiter.needsNonPrefetch = true;
            nonPrefetchWaiters++;
        }
    }

    /** The waiter no longer needs a permit, and returns the one that was kept for it. */
    void cancelWait(Waiter waiter) {
        boolean granted;
        synchronized (this) {
            granted = waiter.granted;
            waiter.granted = false;
            if (waiter.queued) {
                waiting.remove(waiter);
                leave(waiter);
            }
        }
        giveBack(granted ? 1 : 0);
    }

    synchronized void beginPoisonSuspect() {
        poisonSuspects++;
    }

    /** A run has ended, so many nanoseconds after its begin, or -1 if it never began. */
    void end(long nanos, boolean poisonSuspect) {
        try {
            note(nanos, poisonSuspect);
        } finally {
            giveBack(1);
        }
    }

    private synchronized void note(long nanos, boolean poisonSuspect) {
        if (nanos >= 0) {
            prefetch.ran(nanos);
        }
        poisonSuspects -= poisonSuspect ? 1 : 0;
    }

    /** A prefetched run did not start in time. */
    synchronized void recordTimeout() {
        prefetch.recordTimeout();
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
        permits--;
        if (permits == 0) {
            notifyAll();
        }
        Waiter next = room() > 0 ? waiting.poll() : null;
        if (next != null) {
            grant(next);
        }
        return next;
    }

    private int room() {
        int ahead = nonPrefetchWaiters == 0 && poisonSuspects == 0 ? prefetch.ahead() : 0;
        return count + ahead - permits;
    }

    /** Waits until all are given back, at most so long. */
    synchronized void awaitAll(long nanos) throws InterruptedException {
        long deadline = System.nanoTime() + nanos;
        for (long rest = nanos; permits > 0 && rest > 0; rest = deadline - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, rest);
        }
    }
}
