package io.easykit.cache.engine;

import io.easykit.cache.Availability;
import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts events, and passes them to several listeners. Exceptions of listeners are logged, one a minute at level WARN. */
final class SafeListener implements CacheListener {

    private static final Logger log = LoggerFactory.getLogger(SafeListener.class);

    private final CacheCounts counts;
    private final CacheListener[] listeners;
    private final RateLimitedLog line;

    SafeListener(CacheCounts counts, List<CacheListener> listeners, Ticker ticker) {
        this.counts = counts;
        this.listeners = listeners.toArray(CacheListener[]::new);
        this.line = new RateLimitedLog(ticker);
    }

    @Override
    public void onHit(CacheKey<?> key, Hit hit) {
        counts.onHit(key, hit);
        notifyListeners(listener -> listener.onHit(key, hit));
    }

    @Override
    public void onMiss(CacheKey<?> key) {
        counts.onMiss(key);
        notifyListeners(listener -> listener.onMiss(key));
    }

    @Override
    public void onWait(CacheKey<?> key, Duration waited) {
        notifyListeners(listener -> listener.onWait(key, waited));
    }

    @Override
    public void onLoad(CacheKey<?> key, Duration took, Load load) {
        counts.onLoad(key, took, load);
        notifyListeners(listener -> listener.onLoad(key, took, load));
    }

    @Override
    public void onInvalidation(CacheKey<?> key, @Nullable Throwable failure) {
        counts.onInvalidation(key, failure);
        notifyListeners(listener -> listener.onInvalidation(key, failure));
    }

    @Override
    public void onAvailability(String clusterId, Availability.State state) {
        notifyListeners(listener -> listener.onAvailability(clusterId, state));
    }

    @Override
    public void onMasters(String clusterId, Set<String> slots) {
        notifyListeners(listener -> listener.onMasters(clusterId, slots));
    }

    @Override
    public void onMasterAvailability(String clusterId, String slots, Availability.State state) {
        notifyListeners(listener -> listener.onMasterAvailability(clusterId, slots, state));
    }

    @Override
    public void onUnreadable(CacheKey<?> key) {
        notifyListeners(listener -> listener.onUnreadable(key));
    }

    @Override
    public void onTurn(CacheKey<?> key, Turn turn, Duration waited, int queued) {
        notifyListeners(listener -> listener.onTurn(key, turn, waited, queued));
    }

    private void notifyListeners(Consumer<CacheListener> event) {
        for (CacheListener listener : listeners) {
            try {
                event.accept(listener);
            } catch (Exception | LinkageError | StackOverflowError own) {
                report(listener, own);
            }
        }
    }

    private void report(CacheListener listener, Throwable own) {
        if (line.isDue()) {
            log.warn(
                    "The cache listener {} failed. Its exception is ignored, and the call goes on. Correct the listener",
                    listener.getClass().getName(),
                    ErrorText.printable(own));
        } else if (log.isDebugEnabled()) {
            log.debug("The cache listener {} failed again", listener.getClass().getName(), ErrorText.printable(own));
        }
    }
}
