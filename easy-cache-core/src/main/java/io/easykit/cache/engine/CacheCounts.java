package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.CacheSpec;
import io.easykit.cache.admin.CacheNumbers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts the reads and loads of each cache. Every hit passes here: one look-up by the prefix, whose hash code is known, and no
 * allocation.
 */
final class CacheCounts implements CacheListener {

    private final Ticker ticker;
    private final long startedAt;
    private final Map<String, Counts> byPrefix = new ConcurrentHashMap<>();

    CacheCounts(Ticker ticker) {
        this.ticker = ticker;
        this.startedAt = ticker.nanoTime();
    }

    @Override
    public void onHit(CacheKey<?> key, Hit hit) {
        Counts counts = read(key.spec());
        switch (hit) {
            case FRESH -> counts.hits.increment();
            case NEAR -> counts.near.increment();
            case STALE -> counts.stale.increment();
            case LOCAL -> counts.local.increment();
            case EXPIRED -> counts.expired.increment();
        }
    }

    @Override
    public void onMiss(CacheKey<?> key) {
        read(key.spec()).misses.increment();
    }

    @Override
    public void onLoad(CacheKey<?> key, Duration took, Load load) {
        read(key.spec()).loaded(load);
    }

    @Override
    public void onInvalidation(CacheKey<?> key, @Nullable Throwable failure) {
        Counts unused = of(key.spec());
    }

    /** The caches that were used, in no order. The type of a cache that was only updated is {@code Object}. */
    List<CacheSpec<?>> specs() {
        List<CacheSpec<?>> specs = new ArrayList<>();
        for (Counts first : byPrefix.values()) {
            for (Counts one = first; one != null; one = one.next) {
                specs.add(one.spec);
            }
        }
        return specs;
    }

    CacheNumbers numbers(String clusterId, String prefix) {
        Counts counts = find(byPrefix.get(prefix), clusterId);
        Duration over = Duration.ofNanos(ticker.nanoTime() - startedAt);
        return counts == null ? CacheNumbers.none(over) : counts.numbers(over);
    }

    private Counts read(CacheSpec<?> spec) {
        Counts counts = of(spec);
        counts.learn(spec);
        return counts;
    }

    private Counts of(CacheSpec<?> spec) {
        Counts known = find(byPrefix.get(spec.prefix()), spec.clusterId());
        return known != null ? known : add(spec);
    }

    private Counts add(CacheSpec<?> spec) {
        Counts[] found = new Counts[1];
        byPrefix.compute(spec.prefix(), (prefix, first) -> {
            Counts present = find(first, spec.clusterId());
            found[0] = present != null ? present : new Counts(spec, first);
            return present != null ? first : found[0];
        });
        return found[0];
    }

    private static @Nullable Counts find(@Nullable Counts first, String clusterId) {
        Counts one = first;
        while (one != null && !one.spec.clusterId().equals(clusterId)) {
            one = one.next;
        }
        return one;
    }

    /** Those of one cache. */
    private static final class Counts {

        /** The same prefix on another cluster. */
        private final @Nullable Counts next;

        private final LongAdder hits = new LongAdder();
        private final LongAdder near = new LongAdder();
        private final LongAdder stale = new LongAdder();
        private final LongAdder local = new LongAdder();
        private final LongAdder expired = new LongAdder();
        private final LongAdder misses = new LongAdder();
        private final Map<Load, LongAdder> loads = new EnumMap<>(Load.class);
        private volatile CacheSpec<?> spec;

        Counts(CacheSpec<?> spec, @Nullable Counts next) {
            this.spec = spec;
            this.next = next;
            for (Load load : Load.values()) {
                loads.put(load, new LongAdder());
            }
        }

        /** An update may not know type and options. Each reader does. */
        void learn(CacheSpec<?> reader) {
            if (spec.type() == Object.class && !spec.equals(reader)) {
                spec = reader;
            }
        }

        void loaded(Load load) {
            LongAdder count = loads.get(load);
            if (count != null) {
                count.increment();
            }
        }

        CacheNumbers numbers(Duration over) {
            Map<Load, Long> sums = new EnumMap<>(Load.class);
            loads.forEach((load, count) -> sums.put(load, count.sum()));
            return new CacheNumbers(
                    over, hits.sum(), near.sum(), stale.sum(), local.sum(), expired.sum(), misses.sum(), sums);
        }
    }
}
