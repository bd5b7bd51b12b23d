package io.easykit.delayqueue.engine;

import java.util.concurrent.TimeUnit;

/** Spreads the moves of a job over time. Time in which nothing was moved is not made up for, except for a second of it. */
final class JobRate {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Moves in one step at a rate without a limit. */
    private static final int BATCH = 100;

    /** Steps of a limited rate, at most. */
    private static final int STEPS_A_SECOND = 5;

    private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(10);

    private final int perSecond;
    private long begin;
    private long moved;

    JobRate(int perSecond, long now) {
        this.perSecond = perSecond;
        this.begin = now;
    }

    /** Messages that may be moved now: 0 to 100. */
    int allowed(long now) {
        if (isUnlimited()) {
            return BATCH;
        }
        if (now - due(moved) > SECOND) {
            begin = now - SECOND;
            moved = 0;
        }
        long allowed = (long) ((double) (now - begin) / SECOND * perSecond) + 1 - moved;
        return (int) Math.max(0, Math.min(BATCH, allowed));
    }

    void moved(int count) {
        moved += count;
    }

    /** Nanoseconds until the next step. */
    long pause(long now) {
        long next = Math.max(1, Math.min(BATCH, perSecond / STEPS_A_SECOND));
        return isUnlimited() ? SHORTEST_PAUSE : Math.max(SHORTEST_PAUSE, due(moved + next - 1) - now);
    }

    /** When the message of this index may be moved. */
    private long due(long index) {
        return begin + (long) Math.ceil((double) index * SECOND / perSecond);
    }

    private boolean isUnlimited() {
        return perSecond >= BATCH * (SECOND / SHORTEST_PAUSE);
    }
}
