package io.easykit.delayqueue.store;

import io.easykit.delayqueue.ListenerEndpoint.DeadKeyPolicy;
import io.easykit.delayqueue.RetryPolicy;
import io.easykit.delayqueue.support.DurationText;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A delivery that failed.
 *
 * @param retryAfter the wait until the next attempt, or null: the message is dead
 * @param error      what to keep as its error; cut at 4,096 bytes
 * @param deadKeyPolicy what becomes of its ordering key if it is dead
 */
public record Failure(Lease lease, @Nullable Duration retryAfter, String error, DeadKeyPolicy deadKeyPolicy) {

    /** A failure that stops the ordering key of a message that dies. */
    public Failure(Lease lease, @Nullable Duration retryAfter, String error) {
        this(lease, retryAfter, error, DeadKeyPolicy.STOP);
    }

    public Failure {
        if (retryAfter != null && !RetryPolicy.isPossible(retryAfter)) {
            throw new IllegalArgumentException("A wait of " + DurationText.of(retryAfter)
                    + " is not possible: give zero to " + DurationText.of(RetryPolicy.LONGEST) + ".");
        }
    }
}
