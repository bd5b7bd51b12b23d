package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The invalidations of the last seconds before a partition was lost, to be repeated when it is back: a master that failed
 * over may have acknowledged invalidations that its replica never received. An invalidation is added before it is sent, so a
 * repetition that begins meanwhile includes it. While a partition does not answer none of its
 * keys ages, however long that takes. Bounded; beyond the limit the oldest are removed.
 *
 * <p>A repetition counts as an invalidation, because the master that has received it may fail over as well. A line that breaks
 * again and again would keep all keys for ever, and each repetition drops their values. So repetitions count for
 * {@link #REPEATED} only.
 */
final class RecentInvalidations {

    /** A failover, and the time until enough calls have failed, fit into it. */
    private static final Duration KEEP = Duration.ofSeconds(30);

    /** Time from the first repetition to the last one that counts. Of each outage at most {@link #KEEP} is part of it. */
    static final Duration REPEATED = Duration.ofMinutes(2);

    private static final int MOST = 50_000;

    private final long keepNanos;
    private final int limit;
    private final Ticker ticker;
    private final Map<CacheKey<?>, Recent> recent = new LinkedHashMap<>();

    RecentInvalidations(Ticker ticker) {
        this(KEEP, MOST, ticker);
    }

    RecentInvalidations(Duration keep, int limit, Ticker ticker) {
        this.keepNanos = keep.toNanos();
        this.limit = limit;
        this.ticker = ticker;
    }

    /**
     * The last invalidation of a key.
     *
     * @param at ticker time
     * @param repeatedSince ticker time of its first repetition since the last update; null without one
     * @param together all keys of the update, if some are elsewhere
     */
    record Recent(CacheKey<?> key, long at, @Nullable Long repeatedSince, List<CacheKey<?>> together) {}

    void add(Collection<? extends CacheKey<?>> keys) {
        add(keys, List.of());
    }

    /**
     * @param together all keys of the update, if some of them are elsewhere; empty leaves those of an earlier one
     */
    synchronized void add(Collection<? extends CacheKey<?>> keys, List<CacheKey<?>> together) {
        long now = ticker.nanoTime();
        for (CacheKey<?> key : keys) {
            Recent before = recent.remove(key);
            boolean same = before != null && together.isEmpty();
            recent.put(key, new Recent(key, now, null, same ? before.together : together));
        }
        removeBeyondLimit();
    }

    /** Adds keys that were invalidated again, without a new update. */
    synchronized void addRepeated(Collection<? extends CacheKey<?>> keys) {
        long now = ticker.nanoTime();
        for (CacheKey<?> key : keys) {
            Recent before = recent.get(key);
            long since = sinceWhen(before, now);
            if (now - since <= REPEATED.toNanos()) {
                recent.remove(key);
                recent.put(key, new Recent(key, now, since, before == null ? List.of() : before.together));
            }
        }
        removeBeyondLimit();
    }

    /** Keys older than keep are forgotten while the partition answers. A greater age means an outage: what exceeds keep does not count. */
    private long sinceWhen(@Nullable Recent before, long now) {
        if (before == null || before.repeatedSince == null) {
            return now;
        }
        return before.repeatedSince + Math.max(0, now - before.at - keepNanos);
    }

    private void removeBeyondLimit() {
        Iterator<Recent> oldest = recent.values().iterator();
        while (recent.size() > limit) {
            oldest.next();
            oldest.remove();
        }
    }

    /** Whether a key is among them. Called by reads whose reply may lack an invalidation. */
    synchronized boolean holds(CacheKey<?> key) {
        return recent.containsKey(key);
    }

    synchronized boolean isEmpty() {
        return recent.isEmpty();
    }

    /** Those of one partition. */
    synchronized List<Recent> all(Predicate<CacheKey<?>> partition) {
        List<Recent> all = new ArrayList<>();
        for (Recent one : recent.values()) {
            if (partition.test(one.key)) {
                all.add(one);
            }
        }
        return all;
    }

    /** To be called while the partition answers. */
    synchronized void forgetOld(Predicate<CacheKey<?>> partition) {
        long now = ticker.nanoTime();
        Iterator<Recent> oldest = recent.values().iterator();
        while (oldest.hasNext()) {
            Recent one = oldest.next();
            if (now - one.at <= keepNanos) {
                return;
            }
            if (partition.test(one.key)) {
                oldest.remove();
            }
        }
    }
}
