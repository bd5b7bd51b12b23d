package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.PendingInvalidations.Pending;
import io.easykit.cache.engine.RecentInvalidations.Recent;
import io.easykit.cache.store.EntryStore;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Delivers invalidations of one partition that are late: those that failed, and those that a failover may have lost.
 *
 * <p>The keys of one update must not be delivered one by one. A value can be computed from another one: if the outer key
 * is invalidated while the inner one is still pending, a reader computes the outer value from the old inner one, and
 * stores it. So all keys are prepared before the first one is invalidated. A prepared key is loaded, but not stored.
 *
 * <p>That includes keys of the update in other partitions and clusters ({@link SiblingKeys}), although they were invalidated in
 * time: the outer value may have been computed again since, from an inner one that is delivered only now. They are
 * invalidated last, so that it does not matter if they could not be prepared.
 *
 * <p>The stale window of a late invalidation is over: the old value is dropped.
 */
final class Redelivery {

    /** For the time between the first prepare and the last invalidation. */
    static final Duration LEASE = Duration.ofSeconds(30);

    private final EntryStore store;
    private final RecentInvalidations recent;
    private final SiblingKeys siblings;
    private final String token =
            "again" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());

    /**
     * @param recent whether deliveries may be lost by another fail-over, and must be remembered
     */
    Redelivery(EntryStore store, RecentInvalidations recent, SiblingKeys siblings) {
        this.store = store;
        this.recent = recent;
        this.siblings = siblings;
    }

    /** Delivers the pending invalidations of a partition. Failed ones stay pending. */
    void deliver(PendingInvalidations pending, Predicate<CacheKey<?>> partition) {
        for (List<Pending> all = pending.all(partition); !all.isEmpty(); all = pending.all(partition)) {
            List<CacheKey<?>> keys = keys(all, Pending::key);
            Set<CacheKey<?>> others = others(keys, all, Pending::together);
            boolean alone = keys.size() + others.size() == 1;
            prepare(keys, others);
            try {
                for (List<Pending> batch : Batches.<Pending>of(all)) {
                    invalidateNow(batch, !alone);
                    pending.delivered(batch);
                }
            } finally {
                // Also after a failure: some of the keys are delivered, and not known any more.
                siblings.invalidateNow(others, token);
            }
        }
    }

    private void invalidateNow(List<Pending> batch, boolean prepared) {
        List<Iterator<String>> tokens =
                batch.stream().map(one -> one.tokens().iterator()).toList();
        Map<CacheKey<?>, String> next = new LinkedHashMap<>();
        batch.forEach(one -> next.put(one.key(), ""));
        do {
            for (int i = 0; i < batch.size(); i++) {
                if (tokens.get(i).hasNext()) {
                    next.put(batch.get(i).key(), tokens.get(i).next());
                }
            }
            store.invalidateNow(next);
            next.clear();
        } while (tokens.stream().anyMatch(Iterator::hasNext));
        if (prepared) {
            store.invalidateNow(keys(batch, Pending::key), token);
        }
        batch.forEach(one -> recent.add(List.of(one.key()), one.together()));
    }

    /** Delivers acknowledged invalidations once more. */
    void repeat(List<Recent> all) {
        List<CacheKey<?>> keys = keys(all, Recent::key);
        Set<CacheKey<?>> others = others(keys, all, Recent::together);
        prepare(keys, others);
        for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(keys)) {
            store.invalidateNow(batch, token);
            recent.add(batch);
        }
        siblings.invalidateNow(others, token);
    }

    /** One key needs no preparation. */
    private void prepare(List<CacheKey<?>> keys, Set<CacheKey<?>> others) {
        if (keys.size() + others.size() > 1) {
            siblings.prepare(others, token);
            Batches.<CacheKey<?>>of(keys).forEach(batch -> store.prepare(batch, token, LEASE));
        }
    }

    private static <T> List<CacheKey<?>> keys(List<T> all, Function<T, CacheKey<?>> key) {
        return all.stream().<CacheKey<?>>map(key).toList();
    }

    /** The keys of the same updates that are not among these. */
    private static <T> Set<CacheKey<?>> others(
            Collection<CacheKey<?>> keys, List<T> all, Function<T, List<CacheKey<?>>> together) {
        Set<CacheKey<?>> own = new HashSet<>(keys);
        Set<CacheKey<?>> others = new LinkedHashSet<>();
        // The keys of one update share one list.
        Set<List<CacheKey<?>>> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        for (T one : all) {
            List<CacheKey<?>> update = together.apply(one);
            if (seen.add(update)) {
                update.stream().filter(key -> !own.contains(key)).forEach(others::add);
            }
        }
        return others;
    }
}
