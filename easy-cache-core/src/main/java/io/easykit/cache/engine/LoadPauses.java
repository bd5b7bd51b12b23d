package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Pauses the loads of keys whose loads have failed, each until its own time. Their number is bounded: pauses that end first are
 * dropped.
 */
final class LoadPauses {

    private static final int MOST_KEYS = 10_000;
    private static final int DROPPED_AT_ONCE = MOST_KEYS / 10;

    private final Ticker ticker;
    private final Map<CacheKey<?>, Long> ends = new ConcurrentHashMap<>();

    LoadPauses(Ticker ticker) {
        this.ticker = ticker;
    }

    boolean isPaused(CacheKey<?> key) {
        Long end = ends.get(key);
        return end != null && ticker.nanoTime() - end < 0;
    }

    void pause(CacheKey<?> key, long nanos) {
        makeRoomFor(key);
        ends.put(key, ticker.nanoTime() + nanos);
    }

    /** Adds a key without a pause, unless it has one. */
    void add(CacheKey<?> key) {
        makeRoomFor(key);
        ends.putIfAbsent(key, ticker.nanoTime());
    }

    /** Whether there was such a key. */
    boolean remove(CacheKey<?> key) {
        return ends.remove(key) != null;
    }

    /** Whether any key is paused. */
    boolean areAny() {
        long now = ticker.nanoTime();
        return ends.values().stream().anyMatch(end -> now - end < 0);
    }

    private void makeRoomFor(CacheKey<?> key) {
        if (ends.size() >= MOST_KEYS && !ends.containsKey(key)) {
            dropSome();
        }
    }

    private synchronized void dropSome() {
        if (ends.size() < MOST_KEYS) {
            return;
        }
        long now = ticker.nanoTime();
        ends.entrySet().stream()
                .sorted(Comparator.comparingLong(entry -> entry.getValue() - now))
                .limit(DROPPED_AT_ONCE)
                .forEach(entry -> ends.remove(entry.getKey(), entry.getValue()));
    }
}
