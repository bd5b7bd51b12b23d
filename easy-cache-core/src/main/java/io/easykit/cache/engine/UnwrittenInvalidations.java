package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * Keys of updates that have ended, and whose end is not in the outbox: it waits to be written, or could not be. If Redis has not
 * taken it either, it is lost with this process.
 */
final class UnwrittenInvalidations {

    private final int limit;

    /** Keys of writes that are still to be made, with the number of these writes. The queue of writes bounds them. */
    private final Map<CacheKey<?>, Integer> waiting = new HashMap<>();

    /** Keys of writes that have failed. Beyond the limit the caches of the keys stand for them. */
    private final Set<CacheKey<?>> failed = new HashSet<>();

    UnwrittenInvalidations(int limit) {
        this.limit = limit;
    }

    /** A write is to be made. It ends as {@link #written} or {@link #failed}. */
    synchronized void waiting(Collection<? extends CacheKey<?>> keys) {
        keys.forEach(key -> waiting.merge(key, 1, Integer::sum));
    }

    synchronized void written(Collection<? extends CacheKey<?>> keys) {
        waitNoLonger(keys);
        keys.forEach(failed::remove);
    }

    synchronized void failed(Collection<? extends CacheKey<?>> keys) {
        waitNoLonger(keys);
        keys.stream().filter(key -> !failed.contains(key.spec().all())).forEach(failed::add);
        if (failed.size() > limit) {
            List<CacheKey<?>> caches =
                    failed.stream().<CacheKey<?>>map(key -> key.spec().all()).toList();
            failed.clear();
            failed.addAll(caches);
        }
    }

    private void waitNoLonger(Collection<? extends CacheKey<?>> keys) {
        keys.forEach(key -> waiting.computeIfPresent(key, (any, writes) -> writes > 1 ? writes - 1 : null));
    }

    /** A later end of these keys needs no message. */
    synchronized void endedOtherwise(Collection<? extends CacheKey<?>> keys) {
        keys.forEach(failed::remove);
    }

    /**
     * Forgets the failed writes if Redis has taken all invalidations.
     *
     * @param allDelivered called under the lock: an invalidation is pending before its write fails
     */
    synchronized void forgetFailedIf(BooleanSupplier allDelivered) {
        if (!failed.isEmpty() && allDelivered.getAsBoolean()) {
            failed.clear();
        }
    }

    synchronized boolean contains(CacheKey<?> key) {
        return Stream.of(key, key.spec().all()).anyMatch(one -> waiting.containsKey(one) || failed.contains(one));
    }

    /** Whether it has a key with this prefix. */
    synchronized boolean containsAnyOf(String prefix) {
        return Stream.concat(waiting.keySet().stream(), failed.stream())
                .anyMatch(key -> key.spec().prefix().equals(prefix));
    }
}
