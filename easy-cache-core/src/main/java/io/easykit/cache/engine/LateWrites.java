package io.easykit.cache.engine;

import io.easykit.cache.store.OutboxException;
import io.easykit.cache.time.EngineTime.Scheduler;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes to the outbox of one Redis for which no caller waits, on one thread of their own: a recovery worker must not wait for
 * the database.
 */
final class LateWrites {

    /** Maximum number of writes that wait. */
    static final int MOST = 10_000;

    private static final Logger log = LoggerFactory.getLogger(LateWrites.class);
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final String clusterId;
    private final Ticker ticker;
    private final BlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>(MOST);
    private volatile @Nullable Scheduler thread;
    private volatile boolean wasStarted;

    LateWrites(String clusterId, Ticker ticker) {
        this.clusterId = clusterId;
        this.ticker = ticker;
    }

    synchronized void start() {
        if (thread == null) {
            thread = ticker.newScheduler("easy-cache-outbox-late-" + clusterId);
            wasStarted = true;
            run();
        }
    }

    /** Lets a write end that is at work, see {@link Scheduler#stopWithin}. Then does the others, for a limited time. */
    synchronized void stop() {
        Scheduler running = thread;
        thread = null;
        if (running == null || !running.stopWithin(GRACE.toNanos())) {
            return;
        }
        long since = ticker.nanoTime();
        while (ticker.nanoTime() - since < GRACE.toNanos()
                && !Thread.currentThread().isInterrupted()) {
            if (!next()) {
                return;
            }
        }
    }

    /**
     * Before the first start, the caller's thread does it.
     *
     * @throws OutboxException if too many others wait
     */
    void submit(Runnable write) {
        if (!wasStarted) {
            write.run();
        } else if (waiting.offer(write)) {
            run();
        } else {
            throw new OutboxException(MOST + " writes wait for the database", null);
        }
    }

    private void run() {
        Scheduler running = thread;
        if (running != null) {
            try {
                running.execute(() -> writeAll(running));
            } catch (RejectedExecutionException stopped) {
                log.debug("The late writes to the outbox for Redis '{}' were just stopped", clusterId);
            }
        }
    }

    private void writeAll(Scheduler running) {
        boolean some = true;
        while (some && thread == running) {
            some = next();
        }
    }

    /** Never throws, or the others would have to wait. */
    private boolean next() {
        Runnable write = waiting.poll();
        if (write == null) {
            return false;
        }
        try {
            write.run();
        } catch (Throwable fault) {
            log.error(
                    "A late write to the outbox for Redis '{}' failed. An invalidation is lost if this process ends before"
                            + " Redis is back. This is a defect: report it with its stack trace.",
                    clusterId,
                    fault);
        }
        return true;
    }
}
