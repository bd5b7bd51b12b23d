package io.easykit.delayqueue.engine;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Pauses between calls to a store that fails. They grow up to a second, and get shorter as the end of a lease comes near, so that
 * a lease that outlasts the outage is renewed in time.
 */
final class StoreBackOff {

    private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final long SHORTEST_PAUSE_AT_LEASE_END = TimeUnit.MILLISECONDS.toNanos(50);

    private int consecutiveFailures;
    private long failingSince;
    private long until;

    /** @param now the time, in nanoseconds of a clock that only moves forward */
    StoreBackOff(long now) {
        this.until = now;
    }

    /** Whether the last call failed. */
    boolean isFailing() {
        return consecutiveFailures > 0;
    }

    /** Whether more than the last call failed. */
    boolean isFailingRepeatedly() {
        return consecutiveFailures > 1;
    }

    /** Time of the first of the consecutive failures. */
    long failingSince() {
        return failingSince;
    }

    /** Time until the next call, in nanoseconds. */
    long left(long now) {
        return until - now;
    }

    void succeeded() {
        consecutiveFailures = 0;
    }

    /**
     * A call failed.
     *
     * @param passing     whether the store may answer soon
     * @param untilExpiry nanoseconds until the next lease ends
     */
    void failed(boolean passing, long now, long untilExpiry) {
        if (consecutiveFailures == 0) {
            failingSince = now;
        }
        until = now + (passing ? pause(untilExpiry) : LONGEST_PAUSE);
        consecutiveFailures++;
    }

    private long pause(long untilExpiry) {
        long pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE << Math.min(consecutiveFailures, 10));
        long jittered = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2);
        return Math.min(jittered, Math.max(SHORTEST_PAUSE_AT_LEASE_END, untilExpiry / 4));
    }
}
