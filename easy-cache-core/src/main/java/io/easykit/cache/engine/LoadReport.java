package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadObserver;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reports one load, from before its loader runs until its value was stored or not. Used by one thread at a time. */
final class LoadReport implements AutoCloseable {

    private final CacheKey<?> key;
    private final CacheListener listener;
    private final Ticker ticker;
    private final LoadObserver.Observed observed;
    private final long startedAt;
    private Duration took = Duration.ZERO;
    private boolean ended;

    /** Begins. */
    LoadReport(CacheKey<?> key, EngineContext engine) {
        this.key = key;
        this.listener = engine.listener();
        this.ticker = engine.ticker();
        this.observed = engine.observer().begin(key);
        this.startedAt = ticker.nanoTime();
    }

    /** When the loader began, in nanoseconds of the ticker. */
    long startedAt() {
        return startedAt;
    }

    /** The loader has returned a stage, whose value comes later, perhaps to another thread. */
    void leave() {
        observed.leave();
    }

    /** The loader has come back. */
    void loaded() {
        took = Duration.ofNanos(ticker.nanoTime() - startedAt);
    }

    /** @param failure null if the loader has returned a value */
    void end(Load outcome, @Nullable Throwable failure) {
        element(key, outcome);
        endObservation(outcome, failure);
    }

    /** Reports one of several elements that were loaded together. */
    void element(CacheKey<?> loaded, Load outcome) {
        listener.onLoad(loaded, took, outcome);
    }

    /** @param failure null if the loader has returned a value */
    void endObservation(Load outcome, @Nullable Throwable failure) {
        if (!ended) {
            ended = true;
            observed.end(outcome, failure);
        }
    }

    /** Ends the observation of a load that was not reported, because something else failed. */
    @Override
    public void close() {
        endObservation(Load.FAILED, null);
    }
}
