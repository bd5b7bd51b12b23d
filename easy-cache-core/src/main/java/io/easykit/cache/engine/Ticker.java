package io.easykit.cache.engine;

import io.easykit.cache.time.EngineTime;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The engine's own clock and pauses; never decides whether a value is valid. */
interface Ticker extends EngineTime {

    Ticker SYSTEM = of(EngineTime.SYSTEM);

    /** The same time. */
    static Ticker of(EngineTime time) {
        return new Ticker() {
            @Override
            public long nanoTime() {
                return time.nanoTime();
            }

            @Override
            public void pause(long nanos) throws InterruptedException {
                time.pause(nanos);
            }

            @Override
            public <T> T await(CompletableFuture<T> result, long nanos)
                    throws InterruptedException, ExecutionException, TimeoutException {
                return time.await(result, nanos);
            }

            @Override
            public double random() {
                return time.random();
            }

            @Override
            public Scheduler newScheduler(String threadName) {
                return time.newScheduler(threadName);
            }
        };
    }

    /** Ends after a pause that holds no thread. */
    default CompletableFuture<Void> later(long nanos) {
        return new CompletableFuture<Void>().completeOnTimeout(null, nanos, TimeUnit.NANOSECONDS);
    }
}
