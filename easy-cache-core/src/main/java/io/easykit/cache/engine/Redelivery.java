package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.engine.PendingInvalidations.Pending;
import io.easykit.cache.engine.RecentInvalidations.Recent;
import io.easykit.cache.store.EntryStore;
import io.easykit.cache.store.StoreUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * <p>What cannot be prepared is invalidated all the same: a server that is full prepares nothing. All keys are invalidated twice
 * then, so values that were computed in between are dropped.
 *
 * <p>Keys that the store refuses, for example by an ACL, keep back no others. They stay pending, and are tried again seldom.
 *
 * <p>The stale window of a late invalidation is over: the old value is dropped.
 */
final class Redelivery {

    /** For the time between the first prepare and the last invalidation. */
    static final Duration LEASE = Duration.ofSeconds(30);

    /** Delay of a key that Redis refuses, for example by an ACL. It stays refused until its permission changes. */
    static final Duration REFUSED_AGAIN_AFTER = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(Redelivery.class);
    private static final String NO_TOKEN = "";

    private final EntryStore store;
    private final RecentInvalidations recent;
    private final SiblingKeys siblings;
    private final Ticker ticker;
    private final String token =
            "again" + HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());

    /**
     * @param recent whether deliveries may be lost by another fail-over, and must be remembered
     */
    Redelivery(EntryStore store, RecentInvalidations recent, SiblingKeys siblings, Ticker ticker) {
        this.store = store;
        this.recent = recent;
        this.siblings = siblings;
        this.ticker = ticker;
    }

    /** Delivers the pending invalidations of a partition. Failed and refused ones stay pending. */
    void deliver(PendingInvalidations pending, Predicate<CacheKey<?>> partition) {
        tryRefused(pending, partition);
        for (List<Pending> all = pending.all(partition); !all.isEmpty(); all = pending.all(partition)) {
            List<CacheKey<?>> keys = keys(all, Pending::key);
            Set<CacheKey<?>> others = others(keys, all, Pending::together);
            prepare(keys, others);
            try {
                deliver(pending, all, keys.size() + others.size() > 1);
            } finally {
                // Also after a failure, because some of the keys are delivered then, and no longer remembered.
                siblings.invalidateNow(others, token);
            }
        }
    }

    /** @param twice unless there is one key only */
    private void deliver(PendingInvalidations pending, List<Pending> all, boolean twice) {
        List<Pending> allowed = new ArrayList<>(all);
        for (List<Pending> batch : Batches.<Pending>of(all)) {
            Set<CacheKey<?>> refused = endUpdates(batch);
            refuse(pending, refused);
            allowed.removeIf(one -> refused.contains(one.key()));
        }
        for (List<Pending> batch : Batches.<Pending>of(allowed)) {
            Set<CacheKey<?>> refused = twice ? invalidateNow(keys(batch, Pending::key), token) : Set.of();
            refuse(pending, refused);
            List<Pending> delivered =
                    batch.stream().filter(one -> !refused.contains(one.key())).toList();
            delivered.forEach(one -> recent.add(List.of(one.key()), one.together()));
            pending.delivered(delivered);
        }
    }

    /** Tries refused keys alone. Dropping the other keys of their updates each time would cost loads. */
    private void tryRefused(PendingInvalidations pending, Predicate<CacheKey<?>> partition) {
        for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(pending.refused(partition, ticker.nanoTime()))) {
            Set<CacheKey<?>> refused = invalidateNow(batch, NO_TOKEN);
            refuse(pending, refused);
            Set<CacheKey<?>> allowed = new HashSet<>(batch);
            allowed.removeAll(refused);
            pending.allow(allowed::contains);
        }
    }

    private void refuse(PendingInvalidations pending, Set<CacheKey<?>> keys) {
        pending.refuse(keys, ticker.nanoTime() + REFUSED_AGAIN_AFTER.toNanos());
    }

    /** Ends all updates of these keys. Returns the keys that the store refuses. */
    private Set<CacheKey<?>> endUpdates(List<Pending> batch) {
        Map<CacheKey<?>, Iterator<String>> tokens = new LinkedHashMap<>();
        Map<CacheKey<?>, String> next = new LinkedHashMap<>();
        for (Pending one : batch) {
            tokens.put(one.key(), one.tokens().iterator());
            next.put(one.key(), NO_TOKEN);
        }
        Set<CacheKey<?>> refused = new HashSet<>();
        do {
            tokens.forEach((key, left) -> {
                if (left.hasNext()) {
                    next.put(key, left.next());
                }
            });
            refused.addAll(store.invalidateNow(next).keySet());
            tokens.keySet().removeAll(refused);
            next.clear();
        } while (tokens.values().stream().anyMatch(Iterator::hasNext));
        return refused;
    }

    /** Returns the keys that the store refuses. */
    private Set<CacheKey<?>> invalidateNow(List<CacheKey<?>> keys, String with) {
        Map<CacheKey<?>, String> tokens = new LinkedHashMap<>();
        keys.forEach(key -> tokens.put(key, with));
        return store.invalidateNow(tokens).keySet();
    }

    /**
     * Delivers acknowledged invalidations once more.
     *
     * @param pending takes those that the store refuses now
     */
    void repeat(List<Recent> recently, PendingInvalidations pending) {
        List<Recent> all =
                recently.stream().filter(one -> !pending.isRefused(one.key())).toList();
        List<CacheKey<?>> keys = keys(all, Recent::key);
        Set<CacheKey<?>> others = others(keys, all, Recent::together);
        if (!prepare(keys, others)) {
            Batches.<CacheKey<?>>of(keys).forEach(batch -> invalidateNow(batch, NO_TOKEN));
        }
        for (List<Recent> batch : Batches.<Recent>of(all)) {
            Set<CacheKey<?>> refused = invalidateNow(keys(batch, Recent::key), token);
            for (Recent one : batch) {
                if (refused.contains(one.key())) {
                    pending.add(List.of(one.key()), NO_TOKEN, one.together());
                } else {
                    recent.addRepeated(List.of(one.key()));
                }
            }
            refuse(pending, refused);
        }
        siblings.invalidateNow(others, token);
    }

    /** Prepares the keys; a single one needs no preparation. Returns false if some of them could not be prepared. */
    private boolean prepare(List<CacheKey<?>> keys, Set<CacheKey<?>> others) {
        if (keys.size() + others.size() <= 1) {
            return true;
        }
        siblings.prepare(others, token);
        boolean prepared = true;
        for (List<CacheKey<?>> batch : Batches.<CacheKey<?>>of(keys)) {
            try {
                store.prepare(batch, token, LEASE);
            } catch (StoreUnavailableException failed) {
                log.debug("{} are invalidated without being prepared", batch, failed);
                prepared = false;
                if (!failed.isOfSingleKey()) {
                    break;
                }
            }
        }
        return prepared;
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
