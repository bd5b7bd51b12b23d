package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntToLongFunction;

/** Pauses the refreshes of keys whose refreshes have failed, each with the time of its next attempt. Their number is bounded. */
final class PausedKeys {

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
    private static final int MOST_KEYS = 10_000;

    private final Ticker ticker;
    private final Map<CacheKey<?>, Failed> failed = new ConcurrentHashMap<>();
    private long lastLook;

    PausedKeys(Ticker ticker) {
        this.ticker = ticker;
        this.lastLook = ticker.nanoTime();
    }

    /** Whether a key may be tried now. While too many keys fail, no other one is tried. */
    boolean mayTry(CacheKey<?> key) {
        Failed last = failed.get(key);
        long now = ticker.nanoTime();
        return last == null ? failed.size() < MOST_KEYS || forgetOld(now) : now - last.notBefore >= 0;
    }

    /** @param pause nanoseconds until the next attempt, by the number of failures before */
    void failed(CacheKey<?> key, IntToLongFunction pause) {
        long now = ticker.nanoTime();
        if (failed.size() < MOST_KEYS || failed.containsKey(key)) {
            failed.merge(
                    key,
                    new Failed(1, now + pause.applyAsLong(0)),
                    (last, any) -> new Failed(last.times + 1, now + pause.applyAsLong(last.times)));
        }
    }

    /** Whether the key had failed. */
    boolean succeeded(CacheKey<?> key) {
        return failed.remove(key) != null;
    }

    /** Whether a key has failed just now, and waits for its next attempt. */
    boolean havePaused() {
        long now = ticker.nanoTime();
        return failed.values().stream().anyMatch(one -> now - one.notBefore < 0);
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

    /**
     * The failures of one key.
     *
     * @param notBefore ticker time of the next attempt
     */
    private record Failed(int times, long notBefore) {}
}
