package io.easykit.cache;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What was invalidated in the last seconds, to be said again when the connection was lost: a master that failed over may
 * have acknowledged what its replica never heard. Bounded; beyond the limit the oldest are forgotten.
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

    synchronized List<CacheKey<?>> all() {
        forgetOld(ticker.nanoTime());
        return new ArrayList<>(times.keySet());
    }

    private void forgetOld(long now) {
        Iterator<Long> oldest = times.values().iterator();
        while (oldest.hasNext() && (times.size() > limit || now - oldest.next() > keepNanos)) {
            oldest.remove();
        }
    }
}
