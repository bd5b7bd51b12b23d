package io.easykit.cache.engine;

import io.easykit.cache.store.OutboxException;
import io.easykit.cache.time.EngineTime.Scheduler;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Queue of writes to the outbox of one Redis for which no caller waits. One thread makes them, because a recovery worker must not
 * wait for the database.
 */
final class OutboxWriteQueue {

    /** Maximum number of writes that wait. */
    static final int MOST = 10_000;

    private static final Logger log = LoggerFactory.getLogger(OutboxWriteQueue.class);
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final String clusterId;
    private final Ticker ticker;
    private final BlockingQueue<Runnable> waiting = new LinkedBlockingQueue<>(MOST);

    /** Whether the thread has a task that has not begun. One is enough: it makes all writes that wait. */
    private final AtomicBoolean planned = new AtomicBoolean();

    private volatile @Nullable Scheduler thread;
    private volatile boolean wasStarted;

    /** Ticker time after which no write begins, once a stop has begun. */
    private volatile @Nullable Long until;

    OutboxWriteQueue(String clusterId, Ticker ticker) {
        this.clusterId = clusterId;
        this.ticker = ticker;
    }

    synchronized void start() {
        if (thread == null) {
            until = null;
            planned.set(false);
            thread = ticker.newScheduler("easy-cache-outbox-late-" + clusterId);
            wasStarted = true;
            run();
        }
    }

    /**
     * Lets the thread write for a limited time. Then lets the write end that is at work, see {@link Scheduler#stopWithin}. The
     * others wait for the next start.
     */
    synchronized void stop() {
        Scheduler running = thread;
        if (running == null) {
            return;
        }
        if (!waiting.isEmpty()) {
            drain(running);
        }
        thread = null;
        boolean unused = running.stopWithin(GRACE.toNanos());
        if (!waiting.isEmpty()) {
            log.warn(
                    "Writes to the outbox for Redis '{}' that were not made when the cache was stopped: {}. Another line"
                            + " names the invalidations that are lost, if Redis has not taken them either. Check the"
                            + " database.",
                    clusterId,
                    waiting.size());
        }
    }

    /**
     * Before the first start, the caller's thread does it.
     *
     * @throws OutboxException if too many others wait, or the cache was stopped
     */
    void submit(Runnable write) {
        if (!wasStarted) {
            write.run();
            return;
        }
        if (!waiting.offer(write)) {
            throw new OutboxException(MOST + " writes wait for the database", null);
        }
        // After the offer: a stop counts the write, or is noticed here.
        if (thread == null && waiting.remove(write)) {
            throw new OutboxException("the cache was stopped", null);
        }
        run();
    }

    private void drain(Scheduler running) {
        until = ticker.nanoTime() + GRACE.toNanos();
        try {
            ticker.await(CompletableFuture.runAsync(() -> writeAll(running), running), GRACE.toNanos());
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException | OutOfMemoryError late) {
            log.debug("The writes to the outbox for Redis '{}' take longer than the stop", clusterId, late);
        }
    }

    private void run() {
        Scheduler running = thread;
        if (running != null && planned.compareAndSet(false, true)) {
            try {
                running.execute(() -> {
                    planned.set(false);
                    writeAll(running);
                });
            } catch (RejectedExecutionException stopped) {
                planned.set(false);
                log.debug("The late writes to the outbox for Redis '{}' were just stopped", clusterId);
            } catch (OutOfMemoryError noThread) {
                planned.set(false);
                log.debug("The next late write to the outbox for Redis '{}' starts a thread", clusterId, noThread);
            }
        }
    }

    private void writeAll(Scheduler running) {
        boolean some = true;
        while (some && thread == running && mayBegin()) {
            some = next();
        }
    }

    private boolean mayBegin() {
        Long end = until;
        return end == null || ticker.nanoTime() - end < 0;
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
