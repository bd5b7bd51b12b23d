package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import io.easykit.cache.RunningLoad;

/** Which readers get nothing stale, and which entries nobody of this node may take from the store. */
final class Freshness {

    private final OwnUpdates updates;
    private final PendingInvalidations undelivered;

    Freshness(OwnUpdates updates, PendingInvalidations undelivered) {
        this.updates = updates;
        this.undelivered = undelivered;
    }

    /** The same read with what it has to insist on where no fresh value lies in the store. */
    <V> ReadRequest<V> requiredFor(ReadRequest<V> read) {
        LoadInProgress scope = LoadInProgress.innermost();
        if (scope != null) {
            return updates.strict(read.notBefore(scope.startedAt()));
        }
        return updates.strict(LoadInProgress.mayHelpAnotherThread() ? read.notBefore(read.startedAt()) : read);
    }

    /** Whether the local level may answer, which knows nothing of other nodes' updates. */
    boolean allowsLocalLevel() {
        return RunningLoad.current() == null && !LoadInProgress.mayHelpAnotherThread();
    }

    /** Whether an update of this node is still to be told to the store, so that the value there may be the old one. */
    boolean isUndelivered(CacheKey<?> key) {
        return undelivered.holds(key);
    }
}
