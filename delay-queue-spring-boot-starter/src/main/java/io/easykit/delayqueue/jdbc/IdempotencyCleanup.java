package io.easykit.delayqueue.jdbc;

import io.easykit.boot.DurationTexts;
import io.easykit.delayqueue.time.DetachedThread;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/** Deletes old records in the background, on each node. There is no thread unless a store is in use. */
public final class IdempotencyCleanup implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger("delay-queue");

    private static final int BATCH = 500;

    private final Duration interval;
    private @Nullable JdbcIdempotencyStore store;
    private @Nullable ScheduledExecutorService thread;
    private boolean running;

    /** @param interval between two passes */
    public IdempotencyCleanup(Duration interval) {
        this.interval = interval;
    }

    /** Begins with a store, now or with the application. */
    public synchronized void use(JdbcIdempotencyStore used) {
        store = used;
        if (running) {
            begin(used);
        }
    }

    @Override
    public synchronized void start() {
        running = true;
        JdbcIdempotencyStore used = store;
        if (used != null) {
            begin(used);
        }
    }

    private void begin(JdbcIdempotencyStore used) {
        if (thread != null) {
            return;
        }
        ScheduledExecutorService created =
                Executors.newSingleThreadScheduledExecutor(task -> DetachedThread.of("delay-queue-idempotency", task));
        long millis = interval.toMillis();
        // Nodes that start together do not clean up together.
        long first = ThreadLocalRandom.current().nextLong(millis / 10 + 1);
        var unused = created.scheduleWithFixedDelay(() -> pass(used), first, millis, TimeUnit.MILLISECONDS);
        thread = created;
    }

    private void pass(JdbcIdempotencyStore used) {
        try {
            int deleted = 0;
            int found;
            do {
                found = used.deleteExpired(BATCH);
                deleted += found;
            } while (found == BATCH && isRunning());
            log.debug("Deleted {} expired records of handled messages", deleted);
        } catch (Throwable e) {
            tell(e);
        }
    }

    /** Throws nothing, or there would be no further pass: also if the line cannot be written, for lack of memory. */
    private void tell(Throwable failure) {
        try {
            log.warn(
                    "Old records of handled messages cannot be deleted, so the table delay_queue_handled grows: {}. Check"
                            + " the database, and the right to delete. The next attempt follows in {}.",
                    failure.getMessage(),
                    DurationTexts.text(interval));
        } catch (Throwable alsoThat) {
            // The next attempt tries it again.
        }
    }

    @Override
    public void stop() {
        ScheduledExecutorService ending;
        synchronized (this) {
            running = false;
            ending = thread;
            thread = null;
        }
        if (ending == null) {
            return;
        }
        ending.shutdown();
        try {
            // The database closes next.
            if (!ending.awaitTermination(5, TimeUnit.SECONDS)) {
                ending.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized boolean isRunning() {
        return running;
    }
}
