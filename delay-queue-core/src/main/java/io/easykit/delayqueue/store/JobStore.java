package io.easykit.delayqueue.store;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Jobs of the administration, which one node at a time runs and any node may continue. A lock that expires fences the runner:
 * progress is stored only while it holds the lock. Jobs are forgotten a day after their last change. Errors are those of
 * {@link QueueStore}.
 */
public interface JobStore {

    /** Time until another node may take a job whose node stores no progress. */
    Duration LOCK = Duration.ofSeconds(15);

    /**
     * Stores a new job, which no node has taken.
     *
     * @param id   letters and digits, never used before
     * @param lock name of the lock that its runner holds. Of several jobs with the same lock one runs at a time
     * @return the store's clock
     */
    Instant create(String id, String lock, Map<String, String> fields);

    Optional<StoredJob> find(String id);

    /** Jobs of the last day, the latest change first, at most 100. */
    List<StoredJob> list();

    /** Takes a running job for {@link #LOCK}; false if it does not run, or the lock is held. May be repeated. */
    boolean take(String id, String owner);

    /**
     * Stores state and fields and extends the lock; releases the lock if the state is not {@link StoredJob#RUNNING}.
     *
     * @param fields those that have changed
     */
    Saved save(String id, String owner, String state, Map<String, String> fields);

    /** Stops a running job; its node stops at its next step. False if it was stopped already, or has ended. */
    boolean stop(String id);

    /** Lets a job that was stopped or has failed run on. False if it runs, or is done. */
    boolean resume(String id);

    /** Reply to stored progress. */
    enum Saved {
        GO_ON,
        /** Stored, and the job is stopped now. */
        STOPPED,
        /** Not stored: the lock has expired. */
        LOST
    }
}
