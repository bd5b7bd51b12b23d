package io.easykit.cache;

import io.easykit.cache.Journal.Undelivered;
import java.time.Duration;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Delivers invalidations that are late: those that failed, and those that a failover may have lost.
 *
 * <p>The keys of one update must not be delivered one by one. A value can be computed from another one: if the outer key
 * is invalidated while the inner one is still pending, a reader computes the outer value from the old inner one, and
 * stores it. So all keys are prepared before the first one is invalidated. A prepared key is loaded, but not stored.
 *
 * <p>The stale window of a late invalidation is over: the old value is dropped.
 */
final class Redelivery {

    /** For the time between the first prepare and the last invalidation. */
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final EntryStore store;
    private final RecentInvalidations recent;
    private final String token =
            "again" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());

    /**
     * @param recent what is delivered here may be lost by another failover
     */
    Redelivery(EntryStore store, RecentInvalidations recent) {
        this.store = store;
        this.recent = recent;
    }

    /** Delivers what is in the journal. What fails stays in it. */
    void deliver(Journal journal) {
        for (List<Undelivered> all = journal.all(); !all.isEmpty(); all = journal.all()) {
            prepare(all.stream().map(Undelivered::key).toList());
            for (List<Undelivered> batch : Batches.<Undelivered>of(all)) {
                Map<CacheKey<?>, String> tokens = new LinkedHashMap<>();
                batch.forEach(one -> tokens.put(one.key(), one.token()));
                store.drop(tokens);
                if (all.size() > 1) {
                    store.drop(tokens.keySet(), token);
                }
                recent.add(tokens.keySet());
                journal.delivered(batch);
            }
        }
    }

    /** Delivers once more what was acknowledged. */
    void repeat(List<CacheKey<?>> keys) {
        prepare(keys);
        for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(keys)) {
            store.drop(batch, token);
            recent.add(batch);
        }
    }

    /** One key needs no preparation. */
    private void prepare(Collection<? extends CacheKey<?>> keys) {
        if (keys.size() > 1) {
            Batches.<CacheKey<?>>of(keys).forEach(batch -> store.prepare(batch, token, LEASE));
        }
    }
}
