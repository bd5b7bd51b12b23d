package io.easykit.delayqueue.admin;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The present state of a job: work on the dead letters of a topic in the background.
 *
 * @param state     whether it runs
 * @param createdAt when it was started, by the store's clock
 * @param updatedAt when its state or its progress changed last
 * @param node      node that ran it last, or null
 * @param total     dead letters of the topic at its start
 * @param scanned   dead letters that were read
 * @param matched   of these, how many were selected
 * @param done      messages that were sent back or removed
 * @param missed    messages that were selected, and had been sent back or removed by others, or had died again
 * @param deaths    messages of the topic that have died since its start, if it has a limit for them
 * @param problem   why the job failed, or why it left out a shard; null if neither
 * @param groups    of a job that groups: at most {@link #MOST_GROUPS}, the largest first
 * @param matches   of a job that searches: at most {@link #MOST_MATCHES}
 */
public record Job(
        String id,
        JobRequest request,
        State state,
        Instant createdAt,
        Instant updatedAt,
        @Nullable String node,
        long total,
        long scanned,
        long matched,
        long done,
        long missed,
        long deaths,
        @Nullable String problem,
        List<ErrorGroups.Count> groups,
        List<DeadLetterRef> matches) {

    public static final int MOST_GROUPS = 100;

    public static final int MOST_MATCHES = 200;

    public Job {
        groups = List.copyOf(groups);
        matches = List.copyOf(matches);
    }

    /** State of a job. */
    public enum State {
        /** A node runs it, or will do so soon. */
        RUNNING,
        /** Stopped by a person. It can be resumed. */
        STOPPED,
        /** Too many messages died: {@link JobRequest#stopAt}. It can be resumed, and counts from then on. */
        LIMIT_REACHED,
        /** It has read all dead letters, or has found {@link Job#MOST_MATCHES}. */
        DONE,
        /** The store refused a part of it, and the rest is done; or it refused all. It can be resumed. */
        FAILED
    }
}
