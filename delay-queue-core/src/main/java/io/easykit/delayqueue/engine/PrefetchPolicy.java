package io.easykit.delayqueue.engine;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Number of messages to prefetch: calls of a handler whose messages are claimed before there is a permit for them. A call of the
 * store takes about as long as some runs of a quick handler, and costs the store as much as ten messages in it. Without prefetching,
 * handlers wait for these calls, and each call serves no more messages than there are permits.
 *
 * <p><b>How many.</b> As many as are likely to start within a millisecond: permits × 1 ms / mean time of a run. That is 80 for
 * eight permits and a handler of 0.1 ms, 1 for one of 5 ms, and none for one of 10 ms. The mean is that of the latest runs, each
 * weighing an eighth. It begins so high that some fifty quick runs come before the first prefetched message.
 *
 * <p><b>Timeout.</b> If a prefetched run has not started after 20 ms, all unstarted runs of its shard are released
 * ({@link PrefetchedRuns}), which costs one call. Then prefetching pauses for 1 s, and the mean begins anew.
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
     * Prefetches nothing until the runs are known to be quick.
     *
     * @param most  maximum number of prefetched calls, 0 for none
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
