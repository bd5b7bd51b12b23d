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

/**
 * Decides when the keys of rolled-back updates are invalidated.
 *
 * <p>A rollback changes nothing, unless a part of the work was done outside the transaction: in a store without
 * transactions, for instance. So its keys are invalidated as a precaution. A hot key must survive a storm of rollbacks:
 * each key is invalidated at once, then at most once per interval. Rollbacks inside an interval are merged into one
 * invalidation at its end.
 */
final class RolledBackUpdates {

    static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final int LIMIT = 10_000;

    private final Ticker ticker;

    /** In the order of the last invalidation. */
    private final Map<CacheKey<?>, Invalidated> recent = new LinkedHashMap<>();

    RolledBackUpdates(Ticker ticker) {
        this.ticker = ticker;
    }

    /** The keys to invalidate now. The others are held back until {@link #due}. */
    synchronized List<CacheKey<?>> admit(Collection<? extends CacheKey<?>> keys) {
        long now = ticker.nanoTime();
        forgetOld(now);
        List<CacheKey<?>> admitted = new ArrayList<>();
        for (CacheKey<?> key : keys) {
            Invalidated known = recent.get(key);
            if (known != null && !isOver(known, now)) {
                recent.replace(key, new Invalidated(known.at, true));
                continue;
            }
            admitted.add(key);
            recent.remove(key);
            if (recent.size() < LIMIT) {
                recent.put(key, new Invalidated(now, false));
            }
        }
        return admitted;
    }

    /** The keys that were held back and whose interval is over. */
    synchronized List<CacheKey<?>> due() {
        long now = ticker.nanoTime();
        return take(now, last -> isOver(last, now));
    }

    /** All keys that are held back. */
    synchronized List<CacheKey<?>> rest() {
        return take(ticker.nanoTime(), last -> true);
    }

    private List<CacheKey<?>> take(long now, Predicate<Invalidated> which) {
        List<CacheKey<?>> taken = new ArrayList<>();
        recent.forEach((key, last) -> {
            if (last.again && which.test(last)) {
                taken.add(key);
            }
        });
        for (CacheKey<?> key : taken) {
            recent.remove(key);
            recent.put(key, new Invalidated(now, false));
        }
        forgetOld(now);
        return taken;
    }

    private void forgetOld(long now) {
        Iterator<Invalidated> oldest = recent.values().iterator();
        while (oldest.hasNext()) {
            Invalidated last = oldest.next();
            if (!isOver(last, now)) {
                return;
            }
            if (!last.again) {
                oldest.remove();
            }
        }
    }

    private static boolean isOver(Invalidated last, long now) {
        return now - last.at >= INTERVAL.toNanos();
    }

    /**
     * The last invalidation of a key.
     *
     * @param at ticker time
     * @param again whether the key was rolled back again since
     */
    private record Invalidated(long at, boolean again) {}
}
