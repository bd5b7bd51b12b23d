package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheListener.Hit;

/** Counts one call of a reader as one hit or one miss, however often it reads the store. */
final class ReadCount {

    private final CacheListener listener;
    private final CacheKey<?> key;
    private final boolean defersMiss;
    private boolean counted;
    private boolean missed;

    private ReadCount(CacheListener listener, CacheKey<?> key, boolean defersMiss) {
        this.listener = listener;
        this.key = key;
        this.defersMiss = defersMiss;
    }

    /** Counts at once. */
    static ReadCount of(CacheListener listener, CacheKey<?> key) {
        return new ReadCount(listener, key, false);
    }

    /** Counts a miss of a reader that may still get an expired value at {@link #end()} only. */
    static ReadCount of(CacheListener listener, ReadRequest<?> read) {
        return new ReadCount(listener, read.key(), ExpiredValues.areUsedBy(read));
    }

    void hit(Hit hit) {
        if (isFirst(false)) {
            listener.onHit(key, hit);
        }
    }

    void miss() {
        if (isFirst(defersMiss) && !defersMiss) {
            listener.onMiss(key);
        }
    }

    /** An expired value was found, perhaps after a miss. */
    void expired() {
        if (isFirst(false) || takeMissed()) {
            listener.onHit(key, Hit.EXPIRED);
        }
    }

    void end() {
        if (takeMissed()) {
            listener.onMiss(key);
        }
    }

    /** No call of a listener holds the lock. */
    private synchronized boolean isFirst(boolean defers) {
        boolean first = !counted;
        counted = true;
        missed |= first && defers;
        return first;
    }

    private synchronized boolean takeMissed() {
        boolean taken = missed;
        missed = false;
        return taken;
    }
}
