package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.EasyCacheException;
import io.easykit.cache.StaleOnErrorOptions;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads that failed because of their source, of caches whose readers may have an expired value then. After a failure the key
 * pauses: a dead database gets at most one trial for each key and node in that time.
 *
 * <p>One warning is logged for the first expired value, then at most one a minute, and an INFO line when loads succeed again.
 */
final class FailedLoads {

    private static final Logger log = LoggerFactory.getLogger(FailedLoads.class);
    private static final Duration BETWEEN_LINES = Duration.ofMinutes(1);

    private final Ticker ticker;
    private final LoadPauses pauses;
    private boolean said;
    private boolean failing;
    private long unsaid;
    private long served;
    private long lastLine;

    FailedLoads(Ticker ticker) {
        this.ticker = ticker;
        this.pauses = new LoadPauses(ticker);
    }

    /** Whether a failure is one of the source: not of the cache, not of the reader, and no answer of the business. */
    static boolean isOfSource(CacheKey<?> key, Throwable failure) {
        StaleOnErrorOptions options = key.spec().options().staleOnError();
        return options != null && isOfMethod(failure) && !isExcepted(options, failure);
    }

    /** Whether a failure is an answer of the business: the source works. */
    private static boolean isAnswer(CacheKey<?> key, Throwable failure) {
        StaleOnErrorOptions options = key.spec().options().staleOnError();
        return options != null && isOfMethod(failure) && isExcepted(options, failure);
    }

    private static boolean isOfMethod(Throwable failure) {
        Throwable thrown = unwrapped(failure);
        return thrown instanceof Exception
                && !(thrown instanceof EasyCacheException)
                && !OwnerFailures.containInterrupt(failure);
    }

    private static boolean isExcepted(StaleOnErrorOptions options, Throwable failure) {
        return options.isExcepted(failure) || options.isExcepted(unwrapped(failure));
    }

    /** Without what {@code join} and {@code get} wrap around the exception of a future. */
    private static Throwable unwrapped(Throwable failure) {
        boolean wraps = failure instanceof CompletionException || failure instanceof ExecutionException;
        Throwable cause = wraps ? failure.getCause() : null; // methods of other exceptions may throw
        return cause == null ? failure : unwrapped(cause);
    }

    /** Whether a key has failed just now. */
    boolean isPaused(CacheKey<?> key) {
        return key.spec().options().staleOnError() != null && pauses.isPaused(key);
    }

    /** Called before another reader can load the key: after a failure, and before its load lease is released. */
    void failed(CacheKey<?> key, Throwable failure) {
        if (isOfSource(key, failure)) {
            pause(key);
        } else if (isAnswer(key, failure)) {
            succeeded(key);
        }
    }

    /** A load that does not return. Counts as a failure. */
    void hangs(CacheKey<?> key) {
        pause(key);
    }

    private void pause(CacheKey<?> key) {
        StaleOnErrorOptions options = key.spec().options().staleOnError();
        if (options != null) {
            pauses.pause(key, options.loadRetryAfter().toNanos());
        }
    }

    void succeeded(CacheKey<?> key) {
        if (key.spec().options().staleOnError() != null && pauses.remove(key)) {
            sayIfOver();
        }
    }

    /** A key that fails no more, while no other one has failed just now. */
    private synchronized void sayIfOver() {
        if (failing && !pauses.areAny()) {
            log.info("Loads succeed again, after {} expired values were returned", served);
            failing = false;
            served = 0;
        }
    }

    /**
     * An expired value was returned.
     *
     * @param why result of the load
     */
    synchronized void served(CacheKey<?> key, String why) {
        unsaid++;
        served++;
        pauses.add(key);
        long now = ticker.nanoTime();
        if (said && now - lastLine < BETWEEN_LINES.toNanos()) {
            return;
        }
        log.warn(
                "{} expired values were returned because their loads failed or took too long, the last one of {}: {}. Readers"
                        + " get expired values for the 'stale-on-error' of their cache, then the exceptions. Check the cached"
                        + " method and its database",
                unsaid,
                key,
                why);
        said = true;
        failing = true;
        unsaid = 0;
        lastLine = now;
    }
}
