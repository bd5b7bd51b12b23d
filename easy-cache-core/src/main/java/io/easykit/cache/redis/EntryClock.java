package io.easykit.cache.redis;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Estimates the server's clock for plain reads. Reads the server's time when the estimate is old. With Lettuce it does
 * not wait for the reply; with another client the reader that finds the estimate old waits.
 *
 * <p>In a cluster the clocks of the masters differ, so no entry is judged by this one.
 */
final class EntryClock {

    private static final Logger log = LoggerFactory.getLogger(EntryClock.class);

    /**
     * In a minute, after which the estimate is old, two clocks do not drift apart by as much. Nor do they when one of them is
     * slewed.
     */
    private static final long MARGIN_MILLIS = 100;

    private final ServerClock clock = new ServerClock();
    private final AtomicBoolean updating = new AtomicBoolean();
    private final Supplier<CompletionStage<Long>> time;
    private final boolean ofOneServer;

    /**
     * @param time reads the server's clock in ms
     * @param ofOneServer false in a cluster
     */
    EntryClock(Supplier<CompletionStage<Long>> time, boolean ofOneServer) {
        this.time = time;
        this.ofOneServer = ofOneServer;
    }

    /**
     * The server's time in a reply.
     *
     * @param askedNanos when the command was sent, by {@link System#nanoTime}
     */
    void update(long serverMillis, long askedNanos) {
        clock.update(serverMillis, askedNanos);
    }

    /** After a fail-over the server has another clock. */
    void forget() {
        clock.forget();
    }

    /** Lower bound of the time from now to an end of life in the server's ms; null if it is unknown. */
    @Nullable Duration remaining(long endOfLife) {
        updateIfOld();
        return clock.until(endOfLife);
    }

    /** Whether an end of life in the server's ms is certain to be ahead. */
    boolean isAhead(long endOfLife) {
        return isUsable() && endOfLife - clock.millis() > MARGIN_MILLIS;
    }

    /** Whether an end of life in the server's ms is certain to be over. */
    boolean isOver(long endOfLife) {
        return isUsable() && clock.millis() - endOfLife > MARGIN_MILLIS;
    }

    private boolean isUsable() {
        updateIfOld();
        return ofOneServer && !clock.isOld();
    }

    private void updateIfOld() {
        if (!clock.isOld() || !updating.compareAndSet(false, true)) {
            return;
        }
        long asked = System.nanoTime();
        try {
            time.get().whenComplete((now, failure) -> {
                if (failure == null) {
                    clock.update(now, asked);
                }
                updating.set(false);
            });
        } catch (RuntimeException | Error failure) {
            updating.set(false);
            log.debug("Cannot read the clock of Redis, so scripts decide whether values have expired", failure);
        }
    }
}
