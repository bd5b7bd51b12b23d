package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheLoadTimeoutException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds the loads that no load lease bounds: those while Redis is away, and those of readers whose waiting time is over.
 * The latter would otherwise flood a database that does not answer: each of them may hang as well.
 *
 * <p>When Redis is back, or one of its masters, its entries may be gone, and every reader loads at once. So for
 * {@link #FADING_STEPS} seconds all loads need a permit, and the number of permits doubles every second, unless another master is away.
 *
 * <p>One key takes at most a quarter of the permits for overdue readers, so that loads of one row that hang do not keep
 * the readers of all others from loading. A load that runs inside another one needs no permit: those with a permit may
 * be waiting for it, in this cluster or in another one, on its thread or on another one. On a thread of a fork-join pool no load
 * needs one while any load runs in this JVM ({@link LoadInProgress}).
 */
final class LoadBulkhead {

    private static final Logger log = LoggerFactory.getLogger(LoadBulkhead.class);

    static final int FADING_STEPS = 6;

    private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final ThreadLocal<Boolean> INSIDE = new ThreadLocal<>();

    private final int concurrentLoads;
    private final Permits permits;
    private final Ticker ticker;
    private final RateLimitedLog refusedLine;
    private final Map<CacheKey<?>, Integer> overdue = new ConcurrentHashMap<>();
    private volatile boolean fading;
    private boolean away;
    private long fadingSince;

    LoadBulkhead(int concurrentLoads, Ticker ticker) {
        this.concurrentLoads = concurrentLoads;
        this.permits = new Permits(concurrentLoads);
        this.ticker = ticker;
        this.refusedLine = new RateLimitedLog(ticker);
    }

    /** A permit in use. */
    interface Permit extends AutoCloseable {

        Permit NONE = () -> {};

        /** Has no effect on a permit that is released already. */
        void release();

        @Override
        default void close() {
            release();
        }
    }

    /** Readers load without Redis, or without one of its masters, from now on. */
    synchronized void onUnavailable() {
        away = true;
        permits.resize(concurrentLoads);
    }

    /**
     * Readers use Redis, or one of its masters, again. It may have lost its entries.
     *
     * @param all whether no master is away any more
     */
    synchronized void onAvailable(boolean all) {
        away = !all;
        fading = true;
        fadingSince = ticker.nanoTime();
    }

    /** Whether loads under a load lease need a permit, too. */
    boolean isFading() {
        return fading && fade();
    }

    private synchronized boolean fade() {
        long step = (ticker.nanoTime() - fadingSince) / STEP_NANOS;
        fading = fading && step < FADING_STEPS;
        permits.resize(fading && !away ? concurrentLoads << step : concurrentLoads);
        return fading;
    }

    /** Whether the calling thread has a permit already. */
    static boolean isInside() {
        return INSIDE.get() != null;
    }

    /** Whether a load may wait for the calling thread. The load may have a permit, or wait for one that has. */
    static boolean mayBeInside() {
        return isInside() || LoadInProgress.mayBeInside();
    }

    /**
     * A permit for a load, for which it waits as long as its reader may; null if there is none for it. Taken before the load is
     * reported: a load without a permit never begins.
     */
    @Nullable Permit enter(ReadRequest<?> read) {
        if (isInside()) {
            return Permit.NONE;
        }
        return acquire(read) ? new Held(null) : null;
    }

    /**
     * The result of a load that gets no permit: a {@link CacheLoadTimeoutException} or, for a pausable reader, which may have an
     * expired value, a {@link LoadPausedException}.
     *
     * @param from ticker time at which the wait for the permit began
     */
    <T> LoadResult<T> refused(ReadRequest<?> read, long from) {
        if (read.pausable()) {
            return new LoadResult.UnsharableFailure<>(new LoadPausedException());
        }
        if (refusedLine.isDue()) {
            log.warn(
                    "No permit to load {}: all {} permits for loads without Redis are in use, so its reader gets a"
                            + " CacheLoadTimeoutException. Look for cached methods that hang or are slow, and raise"
                            + " 'easy-cache.degraded.concurrent-loads' if the database bears more queries",
                    read.key(),
                    concurrentLoads);
        }
        return new LoadResult.Failed<>(
                new CacheLoadTimeoutException(
                        read.key(), "all " + concurrentLoads + " permits for loads without Redis are in use"),
                from);
    }

    /** A permit for a reader whose waiting time is over; null if there is none for it. */
    @Nullable Permit tryEnterOverdue(CacheKey<?> key) {
        if (mayBeInside()) {
            return Permit.NONE;
        }
        int perKey = Math.max(1, concurrentLoads / 4);
        if (overdue.merge(key, 1, Integer::sum) > perKey || !permits.tryAcquire()) {
            leave(key);
            return null;
        }
        return new Held(key);
    }

    private boolean acquire(ReadRequest<?> read) {
        try {
            return permits.tryAcquire(Math.max(0, read.remainingWait(ticker)), TimeUnit.NANOSECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            return permits.tryAcquire();
        }
    }

    private void leave(CacheKey<?> key) {
        overdue.computeIfPresent(key, (any, count) -> count == 1 ? null : count - 1);
    }

    /** A permit of the calling thread. */
    private final class Held implements Permit {

        private final @Nullable CacheKey<?> overdueKey;
        private boolean released;

        /** @param overdueKey null unless the waiting time of the reader is over */
        private Held(@Nullable CacheKey<?> overdueKey) {
            this.overdueKey = overdueKey;
            INSIDE.set(true);
        }

        @Override
        public void release() {
            if (released) {
                return;
            }
            released = true;
            INSIDE.remove();
            permits.release();
            if (overdueKey != null) {
                leave(overdueKey);
            }
        }
    }

    /** A semaphore whose size changes. */
    private static final class Permits extends Semaphore {

        private static final long serialVersionUID = 1L;

        private int size;

        Permits(int size) {
            super(size, true);
            this.size = size;
        }

        void resize(int to) {
            if (to > size) {
                release(to - size);
            } else if (to < size) {
                reducePermits(size - to);
            }
            size = to;
        }
    }
}
