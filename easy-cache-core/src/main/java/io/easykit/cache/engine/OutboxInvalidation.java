package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.store.StoreUnavailableException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Invalidates keys of one partition. A call that fails because of single keys is halved, so that the others are invalidated.
 * After a few refused keys halving ends, since each costs several calls, one after the other.
 */
final class OutboxInvalidation {

    /** Number of refused keys in one delivery after which halving ends. */
    static final int MAX_REFUSED = 3;

    private static final Logger log = LoggerFactory.getLogger(OutboxInvalidation.class);

    private final GuardedStore store;
    private final CircuitBreaker breaker;
    private final Set<CacheKey<?>> refused = new HashSet<>();
    private final Set<CacheKey<?>> leftOut = new HashSet<>();

    OutboxInvalidation(GuardedStore store, CircuitBreaker breaker) {
        this.store = store;
        this.breaker = breaker;
    }

    /** @throws StoreUnavailableException if the partition does not answer, or this thread is interrupted */
    void invalidate(List<CacheKey<?>> keys, String token) {
        try {
            store.invalidateNow(keys, token);
        } catch (StoreUnavailableException failed) {
            if (!isOfSingleKeys(failed) || !breaker.mayWrite()) {
                throw failed;
            }
            if (keys.size() == 1) {
                log.debug("{} could not be invalidated", keys, failed);
                refused.addAll(keys);
                return;
            }
            // In no fixed order, or the same keys could be left out each time.
            List<CacheKey<?>> mixed = new ArrayList<>(keys);
            Collections.shuffle(mixed);
            int half = mixed.size() / 2;
            invalidateUnlessTooMany(mixed.subList(0, half), token);
            invalidateUnlessTooMany(mixed.subList(half, mixed.size()), token);
        }
    }

    private void invalidateUnlessTooMany(List<CacheKey<?>> keys, String token) {
        if (refused.size() < MAX_REFUSED) {
            invalidate(keys, token);
        } else {
            leftOut.addAll(keys);
        }
    }

    /** Keys whose own call failed, for example because an ACL refuses them. */
    Set<CacheKey<?>> refused() {
        return refused;
    }

    /** Keys in calls that failed, which may be refused or not. */
    Set<CacheKey<?>> leftOut() {
        return leftOut;
    }

    boolean isDone(CacheKey<?> key) {
        return !refused.contains(key) && !leftOut.contains(key);
    }

    static boolean isOfSingleKeys(StoreUnavailableException failed) {
        return failed.isOfSingleKey() && !Thread.currentThread().isInterrupted();
    }
}
