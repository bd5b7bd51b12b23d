package io.easykit.delayqueue;

import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Limits of a topic that raise an alert when they are exceeded. Null for no limit.
 *
 * @param maxLateness time since the oldest unclaimed message was due
 * @param due       number of messages that are due and not claimed
 * @param dead      number of dead letters
 * @param waiting   number of waiting messages, also those that are due in the far future
 * @param failing   share of failed runs in the last five minutes, 0 to 1; not checked below 20 runs
 */
public record AlertLimits(
        @Nullable Duration maxLateness,
        @Nullable Long due,
        @Nullable Long dead,
        @Nullable Long waiting,
        @Nullable Double failing) {

    /** No limits. */
    public static final AlertLimits NONE = new AlertLimits(null, null, null, null, null);

    public AlertLimits {
        if (maxLateness != null && !RetryPolicy.isPossible(maxLateness)) {
            throw new IllegalArgumentException(
                    "An alert limit on age is zero to 3650 days, not " + DurationText.of(maxLateness) + ".");
        }
        requireCount(due);
        requireCount(dead);
        requireCount(waiting);
        if (failing != null && !(failing >= 0 && failing <= 1)) {
            throw new IllegalArgumentException("An alert limit on a share is 0 to 1, not " + failing + ".");
        }
    }

    /** Without a limit of failed runs. */
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
