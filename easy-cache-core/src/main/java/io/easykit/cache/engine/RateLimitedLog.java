package io.easykit.cache.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** Allows one log line a minute. */
final class RateLimitedLog {

    private static final long PAUSE_NANOS = Duration.ofMinutes(1).toNanos();

    private final Ticker ticker;
    private final AtomicLong next;

    RateLimitedLog(Ticker ticker) {
        this.ticker = ticker;
        this.next = new AtomicLong(ticker.nanoTime());
    }

    boolean isDue() {
        long due = next.get();
        long now = ticker.nanoTime();
        return now - due >= 0 && next.compareAndSet(due, now + PAUSE_NANOS);
    }
}
