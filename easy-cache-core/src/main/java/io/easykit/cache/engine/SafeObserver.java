package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener.Load;
import io.easykit.cache.LoadObserver;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls the observer of loads of the application. Its exceptions are logged, one a minute at level WARN. */
final class SafeObserver implements LoadObserver {

    private static final Logger log = LoggerFactory.getLogger(SafeObserver.class);

    private final LoadObserver observer;
    private final RateLimitedLog line;

    SafeObserver(LoadObserver observer, Ticker ticker) {
        this.observer = observer;
        this.line = new RateLimitedLog(ticker);
    }

    @Override
    public Observed begin(CacheKey<?> key) {
        try {
            Observed observed = observer.begin(key);
            return observed == Observed.NONE ? observed : new SafeObserved(observed);
        } catch (Exception | LinkageError | StackOverflowError own) {
            report(own);
            return Observed.NONE;
        }
    }

    @Override
    public void runInBackground(Runnable reload) {
        call(() -> observer.runInBackground(reload));
    }

    private void call(Runnable event) {
        try {
            event.run();
        } catch (Exception | LinkageError | StackOverflowError own) {
            report(own);
        }
    }

    private void report(Throwable own) {
        if (line.isDue()) {
            log.warn(
                    "The observer of loads failed. Its exception is ignored, and the load goes on. Correct the observer",
                    ErrorText.printable(own));
        } else if (log.isDebugEnabled()) {
            log.debug("The observer of loads failed again", ErrorText.printable(own));
        }
    }

    private final class SafeObserved implements Observed {

        private final Observed observed;

        private SafeObserved(Observed observed) {
            this.observed = observed;
        }

        @Override
        public void leave() {
            call(observed::leave);
        }

        @Override
        public void end(Load outcome, @Nullable Throwable failure) {
            call(() -> observed.end(outcome, failure));
        }
    }
}
