package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;

/** Decides which readers get nothing stale, and which entries this node must not take from the store. */
final class Freshness {

    private final OwnUpdates updates;
    private final PendingInvalidations undelivered;

    Freshness(OwnUpdates updates, PendingInvalidations undelivered) {
        this.updates = updates;
        this.undelivered = undelivered;
    }

    /** The same read with the freshness that it requires if the store has no fresh value. */
    <V> ReadRequest<V> requiredFor(ReadRequest<V> read) {
        LoadInProgress scope = LoadInProgress.innermost();
        if (scope != null) {
            return updates.strict(read.notBefore(scope.startedAt()));
        }
        return updates.strict(LoadInProgress.mayHelpAnotherThread() ? read.notBefore(read.startedAt()) : read);
    }

    /** Whether the local level may be used, which does not receive the updates of other nodes. */
    boolean allowsLocalLevel() {
        return !LoadInProgress.mayBeInside();
    }

    /** Whether a value of the near level may be returned, or kept for other readers. */
    boolean allowsNear(CacheKey<?> key) {
        return allowsLocalLevel() && !isUndelivered(key);
    }

    /** Whether an invalidation of this node is still pending, so that the store may have the old value. */
    boolean isUndelivered(CacheKey<?> key) {
        return undelivered.holds(key);
    }
}
