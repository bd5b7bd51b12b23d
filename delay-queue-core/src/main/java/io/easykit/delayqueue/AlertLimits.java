package io.easykit.delayqueue;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What in a topic calls for attention when it is exceeded; null for what does not.
 *
 * @param maxLateness age of the oldest message that is due and not claimed
 * @param due       messages that are due and not claimed
 * @param dead      dead letters
 * @param waiting   messages that wait, those of the far future included
 * @param failing   share of the runs of the last five minutes that failed, 0 to 1; of at least 20 runs
 */
public record AlertLimits(
        @Nullable Duration maxLateness,
        @Nullable Long due,
        @Nullable Long dead,
        @Nullable Long waiting,
        @Nullable Double failing) {

    /** Nothing is watched. */
    public static final AlertLimits NONE = new AlertLimits(null, null, null, null, null);

    public AlertLimits {
        if (maxLateness != null && !RetryPolicy.isPossible(maxLateness)) {
            throw new IllegalArgumentException("An alert limit on age is zero to 3650 days, not " + maxLateness + ".");
        }
        requireCount(due);
        requireCount(dead);
        requireCount(waiting);
        if (failing != null && !(failing >= 0 && failing <= 1)) {
            throw new IllegalArgumentException("An alert limit on a share is 0 to 1, not " + failing + ".");
        }
    }

    /** Limits without one on failing runs. */
    public AlertLimits(
            @Nullable Duration maxLateness, @Nullable Long due, @Nullable Long dead, @Nullable Long waiting) {
        this(maxLateness, due, dead, waiting, null);
    }

    private static void requireCount(@Nullable Long limit) {
        if (limit != null && limit < 0) {
            throw new IllegalArgumentException("An alert limit on a count is zero or more, not " + limit + ".");
        }
    }

    /** Kinds of alerts. Their order is part of the format in which stores keep them. */
    public enum Kind {
        LATENESS("oldest_due"),
        DUE("due"),
        DEAD("dead"),
        WAITING("waiting"),
        /** Messages are due, and no node has a running listener that is not paused. */
        NO_CONSUMER("no_consumer"),
        FAILING("failing");

        private final String storedName;

        Kind(String storedName) {
            this.storedName = storedName;
        }

        /** Name under which stores keep that it is raised. */
        public String storedName() {
            return storedName;
        }
    }
}
