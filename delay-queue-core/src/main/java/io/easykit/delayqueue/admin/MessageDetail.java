package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.RetryPolicy;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One message with all that is stored of it.
 *
 * @param message     state, counts, both errors, headers, and the body, cut after {@link #MOST_BYTES}
 * @param incarnation distinguishes this message from an earlier or a later one with the same id, or null if the body is
 *                    missing
 * @param shard       shard of the topic, from 0
 * @param due         due time of its last delivery or of its next one; null if it was never claimed and does not wait
 * @param claimedAt   when it was claimed last, or null if it was never claimed
 * @param retry       the message's own retry policy, or null for that of its topic
 * @param bodySize    bytes of the whole body; -1 if it cannot be read
 * @param group       group of the latest failure, or null if there is none
 */
public record MessageDetail(
        MessageInfo message,
        @Nullable String incarnation,
        int shard,
        @Nullable Instant due,
        @Nullable Instant claimedAt,
        @Nullable RetryPolicy retry,
        int bodySize,
        @Nullable ErrorGroup group) {

    /** Bytes of the stored message, headers first, that are read. */
    public static final int MOST_BYTES = 1 << 18;

    /** Whether the body goes on behind the bytes in {@link MessageInfo#body}. */
    public boolean isCut() {
        return message.body() != null && message.body().length() < bodySize;
    }
}
