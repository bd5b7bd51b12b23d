package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Backs off refreshes that fail. A value near its end is refreshed by any of its readers: without a pause each of them would
 * load, fail and log. Readers are not affected: they have the value until it expires, then they load themselves.
 *
 * <p>The pause of a key doubles with each failure. One warning is logged for the first failure, then at most one a minute,
 * and an INFO line when no key fails any more.
 */
final class FailingRefreshes {

    private static final Logger log = LoggerFactory.getLogger(FailingRefreshes.class);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final int MOST_DOUBLINGS = 7;
    private static final Duration BETWEEN_LINES = Duration.ofMinutes(1);

    private final Ticker ticker;
    private final PausedKeys keys;
    private boolean said;
    private boolean failing;
    private long unsaid;
    private long failures;
    private long lastLine;

    FailingRefreshes(Ticker ticker) {
        this.ticker = ticker;
        this.keys = new PausedKeys(ticker);
    }

    /** Whether a key may be refreshed now. While too many keys fail, no other one is tried. */
    boolean mayTry(CacheKey<?> key) {
        return keys.mayTry(key);
    }

    void failed(CacheKey<?> key, Throwable failure) {
        keys.failed(key, before -> FIRST_PAUSE.toNanos() << Math.min(before, MOST_DOUBLINGS));
        say(key, failure, ticker.nanoTime());
    }

    void succeeded(CacheKey<?> key) {
        if (keys.succeeded(key)) {
            sayIfOver();
        }
    }

    /** A key that fails no more, while no other one has failed just now. */
    private synchronized void sayIfOver() {
        if (failing && !keys.havePaused()) {
            log.info("Refreshes succeed again, after {} failures", failures);
            failing = false;
            failures = 0;
        }
    }

    private synchronized void say(CacheKey<?> key, Throwable failure, long now) {
        unsaid++;
        failures++;
        if (said && now - lastLine < BETWEEN_LINES.toNanos()) {
            return;
        }
        log.warn(
                "{} refreshes failed, the last one of {}: {}. Readers get the older value until it expires, then they load"
                        + " themselves. Refreshes are tried again after a pause. Check the cached method and its database",
                unsaid,
                key,
                ErrorText.of(failure));
        said = true;
        failing = true;
        unsaid = 0;
        lastLine = now;
    }
}
