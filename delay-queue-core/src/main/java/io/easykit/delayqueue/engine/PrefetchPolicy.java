package io.easykit.delayqueue.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many calls of a handler may be claimed ahead of a free place. A trip to the store takes about as long as some runs of
 * a quick handler, and costs the store as much as ten messages in it: without anything ahead, the handlers wait for trips,
 * and each trip serves no more messages than there are places.
 *
 * <p><b>How many.</b> As many as are likely to begin within a millisecond: places × 1 ms / mean time of a run, so 80 for
 * eight places and a handler of 0.1 ms, 1 for one of 5 ms, none for one of 10 ms. The mean is that of the latest runs, each
 * weighing an eighth. It begins so high that it takes some fifty quick runs until anything is claimed ahead.
 *
 * <p><b>When it was wrong.</b> What waits here in vain is handed back ({@link PrefetchedRuns}), at no cost but the trip. Then
 * nothing is claimed ahead for a second, and the mean begins anew.
 *
 * <p>Guarded by its {@link ConcurrencyLimiter}.
 */
final class PrefetchPolicy {

    private static final double SOON = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long PAUSE = TimeUnit.SECONDS.toNanos(1);
    private static final double WEIGHT = 1 / 8.0;

    private final int permits;
    private final int most;
    private final LongSupplier nanos;
    private double mean;
    private long pausedUntil;

    /**
     * Nothing ahead until the runs are known to be quick.
     *
     * @param most  calls that may be ahead, 0 for never
     * @param nanos a clock that only moves forward
     */
    PrefetchPolicy(int permits, int most, LongSupplier nanos) {
        this.permits = permits;
        this.most = most;
        this.nanos = nanos;
        this.pausedUntil = nanos.getAsLong();
        beginAnew();
    }

    void ran(long time) {
        mean += (time - mean) * WEIGHT;
    }

    void recordTimeout() {
        pausedUntil = nanos.getAsLong() + PAUSE;
        beginAnew();
    }

    int ahead() {
        boolean paused = most == 0 || nanos.getAsLong() - pausedUntil < 0;
        return paused ? 0 : (int) Math.min(most, permits * SOON / Math.max(1, mean));
    }

    private void beginAnew() {
        mean = 1000 * SOON * permits;
    }
}
