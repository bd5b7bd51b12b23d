package io.easykit.delayqueue.store;

import io.easykit.delayqueue.StoreRefusedException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Stores the jobs of the administration. One node at a time runs a job, and any node may continue it. A lock that expires fences
 * the runner: progress is stored only while it holds the lock. Jobs are removed a day after their last change, except those that
 * wait for the lock of another one. Errors are those of {@link QueueStore}.
 */
public interface JobStore {

    /** Time until another node may take a job whose node stores no progress. */
    Duration LOCK = Duration.ofSeconds(15);

    /**
     * Stores a new job, which no node has taken. May be repeated, as drivers do that get no reply: a job of this id stays as it is.
     *
     * @param id   letters and digits, never used for another job
     * @param lock name of the lock that its runner holds. Of several jobs with the same lock one runs at a time
     * @return when it was created, by the store's clock
     * @throws StoreRefusedException if 1000 others run or wait
     */
    Instant create(String id, String lock, Map<String, String> fields);

    Optional<StoredJob> find(String id);

    /** Jobs of the last day, the latest change first: the 100 that changed last, and up to 100 others that run. */
    List<StoredJob> list();

    /** Looks for jobs to run. Keeps those that wait for a lock, and costs little. */
    Running running();

    /**
     * Running jobs.
     *
     * @param free   ids of those that a node may take, the first to run first, at most 100
     * @param others number of those that a node runs, or that wait for a lock
     */
    record Running(List<String> free, int others) {

        public Running {
            free = List.copyOf(free);
        }
    }

    /**
     * Takes a running job for {@link #LOCK}; false if it does not run, or the lock is held. May be repeated. A job that was
     * stopped and whose node has ended is stopped by this, and not taken.
     */
    boolean take(String id, String owner);

    /**
     * Stores state and fields and extends the lock; releases the lock if the state is not {@link StoredJob#RUNNING}.
     *
     * @param fields those that have changed
     */
    Saved save(String id, String owner, String state, Map<String, String> fields);

    /**
     * Stops a running job; its node stops at its next step, and a repetition before that is true as well. False if it was stopped already,
     * or has ended.
     */
    boolean stop(String id);

    /** Continues a job that was stopped or has failed. False if it runs, or is done. */
    boolean resume(String id);

    /** Reply to stored progress. */
    enum Saved {
        GO_ON,
        /** Stored, and the job is stopped now: {@link StoredJob#isHalted}. */
        STOPPED,
        /** Not stored: the lock has expired. */
        LOST
    }
}
