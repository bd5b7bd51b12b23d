package io.easykit.cache.engine;

import io.easykit.cache.CacheKey;
import java.util.function.Predicate;

/** Work for a whole Redis that each {@link RecoveryWorker} does along with its own. */
interface ClusterUpkeep {

    /**
     * Follows the store if its partitions have changed.
     *
     * @return whether they have; then this worker is replaced
     */
    boolean repartition();

    /** Renews the marks of updates that run. */
    void renewMarks();

    /**
     * Ends the updates whose work cannot be committed any more, and forgets invalidations that the outbox lacks when Redis has taken all.
     * Does not wait for the database.
     */
    void endLateWork();

    /** Delivers the updates that other nodes made while a partition was away, as far as they are known. */
    void deliverOutbox(Predicate<CacheKey<?>> here);
}
