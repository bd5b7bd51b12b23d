package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadObserver;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports one load, from before its loader runs until its value was stored or not. Used by one thread at a time. */
final class LoadReport implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LoadReport.class);

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
        this.observed = begin(key, engine.observer());
        this.startedAt = ticker.nanoTime();
    }

    private static LoadObserver.Observed begin(CacheKey<?> key, LoadObserver observer) {
        try {
            return observer.begin(key);
        } catch (Exception | LinkageError | StackOverflowError own) {
            warn(own);
            return LoadObserver.Observed.NONE;
        }
    }

    /** When the loader began, in nanoseconds of the ticker. */
    long startedAt() {
        return startedAt;
    }

    /** The loader has returned a stage, whose value comes later, perhaps to another thread. */
    void leave() {
        try {
            observed.leave();
        } catch (Exception | LinkageError | StackOverflowError own) {
            warn(own);
        }
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
            try {
                observed.end(outcome, failure);
            } catch (Exception | LinkageError | StackOverflowError own) {
                warn(own);
            }
        }
    }

    static void warn(Throwable own) {
        log.warn(
                "The observer of loads failed. Its exception is ignored, and the load goes on. Correct the observer",
                ErrorText.printable(own));
    }

    /** Ends the observation of a load that was not reported, because something else failed. */
    @Override
    public void close() {
        endObservation(Load.FAILED, null);
    }
}
