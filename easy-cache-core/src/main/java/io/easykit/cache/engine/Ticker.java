package io.easykit.cache.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The engine's own clock and pauses; never decides whether a value is valid. */
interface Ticker {

    Ticker SYSTEM = new Ticker() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void pause(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }
    };

    long nanoTime();

    void pause(long nanos) throws InterruptedException;

    /** Ends after a pause that holds no thread. */
    default CompletableFuture<Void> later(long nanos) {
        return new CompletableFuture<Void>().completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
    }
}
