package io.easykit.delayqueue.store;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Dead letters of a shard with their errors only, the oldest first.
 *
 * @param total dead letters of the shard
 */
public record DeadLetterErrors(long total, List<Entry> entries) {

    /** Maximum number of dead letters in one reply. */
    public static final int MOST = 500;

    /** In milliseconds since the epoch: scores have room for half a millisecond below it. */
    private static final long LATEST_DEATH = 1L << 50;

    public DeadLetterErrors {
        entries = List.copyOf(entries);
    }

    /**
     * A dead letter.
     *
     * @param error text of its latest error, of which the parts that tell its group are kept; null if it has none
     */
    public record Entry(Position position, Instant diedAt, @Nullable String error) {

        /** Whether the death is not announced. One with a time that was written by hand, and that no clock has, never is. */
        public boolean isUnannounced() {
            long millis = diedAt.toEpochMilli();
            return millis < LATEST_DEATH && position.score().equals(Long.toString(millis));
        }
    }
}
