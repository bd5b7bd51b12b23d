package io.easykit.cache.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The time of a test: moved by hand, and by each pause. Serves the engine and the store alike. */
final class ManualClock implements Ticker {

    private final AtomicLong nanos = new AtomicLong(TimeUnit.DAYS.toNanos(1));
    private volatile Runnable onPause = () -> {};

    void advance(Duration by) {
        nanos.addAndGet(by.toNanos());
    }

    /** Runs in each pause, before the time goes on. */
    void onPause(Runnable value) {
        this.onPause = value;
    }

    long millis() {
        return TimeUnit.NANOSECONDS.toMillis(nanos.get());
    }

    @Override
    public long nanoTime() {
        return nanos.get();
    }

    @Override
    public CompletableFuture<Void> later(long length) {
        onPause.run();
        nanos.addAndGet(length);
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void pause(long length) throws InterruptedException {
        onPause.run();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        nanos.addAndGet(length);
    }
}
