package io.easykit.cache.test;

import io.easykit.cache.CacheKey;
import io.easykit.cache.CacheListener;
import io.easykit.cache.admin.CacheNumbers;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Counts the reads and loads of each cache. */
final class CacheCalls implements CacheListener {

    private final Map<String, Counts> byPrefix = new HashMap<>();

    private static final class Counts {

        private final Map<Hit, Integer> hits = new EnumMap<>(Hit.class);
        private final Map<Load, Long> loads = new EnumMap<>(Load.class);
        private int misses;

        private Counts() {
            for (Load load : Load.values()) {
                loads.put(load, 0L);
            }
        }

        int hits(Hit hit) {
            return hits.getOrDefault(hit, 0);
        }

        CacheNumbers numbers(Duration over) {
            return new CacheNumbers(
                    over,
                    hits(Hit.FRESH),
                    hits(Hit.NEAR),
                    hits(Hit.STALE),
                    hits(Hit.LOCAL),
                    hits(Hit.EXPIRED),
                    misses,
                    loads);
        }
    }

    private Counts of(CacheKey<?> key) {
        return byPrefix.computeIfAbsent(key.spec().prefix(), any -> new Counts());
    }

    @Override
    public synchronized void onHit(CacheKey<?> key, Hit hit) {
        of(key).hits.merge(hit, 1, Integer::sum);
    }

    @Override
    public synchronized void onMiss(CacheKey<?> key) {
        of(key).misses++;
    }

    @Override
    public synchronized void onLoad(CacheKey<?> key, Duration took, Load load) {
        of(key).loads.merge(load, 1L, Long::sum);
    }

    synchronized CacheNumbers numbers(String prefix, Duration over) {
        Counts counts = byPrefix.get(prefix);
        return counts == null ? CacheNumbers.none(over) : counts.numbers(over);
    }

    synchronized void clear() {
        byPrefix.clear();
    }
}
