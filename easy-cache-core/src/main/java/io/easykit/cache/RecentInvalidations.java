package io.easykit.cache;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What was invalidated in the last seconds before the store was lost, to be said again when it is back: a master that
 * failed over may have acknowledged what its replica never heard. While the store does not answer nothing grows old,
 * however long that takes. Bounded; beyond the limit the oldest are forgotten.
 */
final class RecentInvalidations {

    private final long keepNanos;
    private final int limit;
    private final Ticker ticker;
    private final Map<CacheKey<?>, Long> times = new LinkedHashMap<>();

    RecentInvalidations(Duration keep, int limit, Ticker ticker) {
        this.keepNanos = keep.toNanos();
        this.limit = limit;
        this.ticker = ticker;
    }

    synchronized void add(Collection<? extends CacheKey<?>> keys) {
        long now = ticker.nanoTime();
        for (CacheKey<?> key : keys) {
            times.remove(key);
            times.put(key, now);
        }
        forgetOld(now);
    }

    synchronized boolean isEmpty() {
        return times.isEmpty();
    }

    synchronized List<CacheKey<?>> all() {
        return new ArrayList<>(times.keySet());
    }

    /** To be called while the store answers. */
    synchronized void forgetOld() {
        forgetOld(ticker.nanoTime());
    }

    private void forgetOld(long now) {
        Iterator<Long> oldest = times.values().iterator();
        while (oldest.hasNext()) {
            boolean old = now - oldest.next() > keepNanos;
            if (!old && times.size() <= limit) {
                return;
            }
            oldest.remove();
        }
    }
}
