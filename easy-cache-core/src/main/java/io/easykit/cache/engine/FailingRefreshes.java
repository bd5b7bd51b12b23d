package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
    private static final int MOST_KEYS = 10_000;

    private final Ticker ticker;
    private final Map<CacheKey<?>, Failed> failed = new ConcurrentHashMap<>();
    private boolean said;
    private boolean failing;
    private long unsaid;
    private long failures;
    private long lastLine;
    private long lastLook;

    FailingRefreshes(Ticker ticker) {
        this.ticker = ticker;
        this.lastLook = ticker.nanoTime();
    }

    /** Whether a key may be refreshed now. While too many keys fail, no other one is tried. */
    boolean mayTry(CacheKey<?> key) {
        Failed last = failed.get(key);
        long now = ticker.nanoTime();
        return last == null ? failed.size() < MOST_KEYS || forgetOld(now) : now - last.notBefore >= 0;
    }

    void failed(CacheKey<?> key, Throwable failure) {
        long now = ticker.nanoTime();
        if (failed.size() < MOST_KEYS || failed.containsKey(key)) {
            failed.merge(key, Failed.after(0, now), (last, any) -> Failed.after(last.times, now));
        }
        say(key, failure, now);
    }

    /** Whether there is room again. Checks once a second at most. */
    private synchronized boolean forgetOld(long now) {
        if (now - lastLook < LOOK_EVERY.toNanos()) {
            return false;
        }
        lastLook = now;
        failed.values().removeIf(any -> now - any.notBefore >= 0);
        return failed.size() < MOST_KEYS;
    }

    void succeeded(CacheKey<?> key) {
        if (failed.remove(key) != null) {
            sayIfOver(ticker.nanoTime());
        }
    }

    /** A key that fails no more, while no other one has failed just now. */
    private synchronized void sayIfOver(long now) {
        if (failing && failed.values().stream().noneMatch(other -> now - other.notBefore < 0)) {
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
                failure.toString());
        said = true;
        failing = true;
        unsaid = 0;
        lastLine = now;
    }

    /**
     * The failures of one key.
     *
     * @param notBefore ticker time of the next attempt
     */
    private record Failed(int times, long notBefore) {

        static Failed after(int before, long now) {
            long pause = FIRST_PAUSE.toNanos() << Math.min(before, MOST_DOUBLINGS);
            return new Failed(before + 1, now + pause);
        }
    }
}
