package io.easykit.cache.engine;

import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Renews the marks of updates in one Redis while their actions run: each at half of its lease, so that an action may last
 * longer than the lease. A mark that Redis has lost meanwhile is restored.
 *
 * <p>No renewal is sent after the end of its update: the end waits for one that is under way. The command of a renewal without
 * a reply may still arrive after the end, over a former connection. Such an update has to be ended once more ({@link #LATE}).
 */
final class MarkRenewals {

    /** Time after an update in which a command that was sent before its end may still arrive. */
    static final Duration LATE = Duration.ofSeconds(5);

    private final Set<Renewal> running = ConcurrentHashMap.newKeySet();
    private final Ticker ticker;

    MarkRenewals(Ticker ticker) {
        this.ticker = ticker;
    }

    /**
     * Starts to renew marks that are about to be set.
     *
     * @param mark sets them again. Returns false if Redis has not acknowledged that; then it is repeated in the next round
     */
    Renewal start(Duration lease, BooleanSupplier mark) {
        Renewal renewal = new Renewal(lease, mark);
        running.add(renewal);
        return renewal;
    }

    /** Renews the marks whose time has come. Called once a probe interval, possibly by several threads. */
    void renewDue() {
        running.forEach(Renewal::renewIfDue);
    }

    /**
     * Ends the renewals of an update.
     *
     * @return whether each renewal that was sent has its reply
     */
    static boolean stop(Collection<Renewal> renewals) {
        boolean certain = true;
        for (Renewal renewal : renewals) {
            certain &= renewal.stop();
        }
        return certain;
    }

    /** The marks of one update. */
    final class Renewal {

        private final long intervalNanos;
        private final BooleanSupplier mark;
        private final Lock lock = new ReentrantLock();
        private volatile long renewedAt = ticker.nanoTime();
        private boolean stopped;
        private boolean certain = true;

        private Renewal(Duration lease, BooleanSupplier mark) {
            this.intervalNanos = lease.dividedBy(2).toNanos();
            this.mark = mark;
        }

        private boolean isDue() {
            return ticker.nanoTime() - renewedAt >= intervalNanos;
        }

        private void renewIfDue() {
            // If it is locked, another thread renews it, or it ends.
            if (isDue() && lock.tryLock()) {
                try {
                    if (!stopped && isDue()) {
                        renew();
                    }
                } finally {
                    lock.unlock();
                }
            }
        }

        private void renew() {
            long now = ticker.nanoTime();
            if (mark.getAsBoolean()) {
                renewedAt = now;
            } else {
                certain = false;
            }
        }

        private boolean stop() {
            running.remove(this);
            lock.lock();
            try {
                stopped = true;
                return certain;
            } finally {
                lock.unlock();
            }
        }
    }
}
