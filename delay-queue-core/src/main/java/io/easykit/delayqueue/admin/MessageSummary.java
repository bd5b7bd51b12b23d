package io.easykit.delayqueue.admin;

import io.easykit.delayqueue.MessageInfo.ErrorNote;
import io.easykit.delayqueue.MessageInfo.State;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.LogText;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message in a page: long texts and the body are cut. {@link DelayQueueAdmin#find} returns all of it.
 *
 * @param id               own or generated
 * @param incarnation      distinguishes this message from an earlier or a later one with the same id, or null if the body is
 *                         missing
 * @param shard            shard of the topic, from 0
 * @param state            whether it waits, is in flight, or is dead
 * @param at               when it is due, when its lease ends, or when it died, by state
 * @param due              due time of its last delivery or of its next one; null if it was never claimed and does not wait
 * @param failures         runs that failed since the send or the last redrive
 * @param leaseExpirations leases that expired since the send or the last redrive
 * @param releases         deliveries that were handed back without a run
 * @param owner            node that claimed it last, or null if it was never claimed
 * @param claimedAt        when it was claimed last, or null if it was never claimed
 * @param lastError        latest failure, its text cut to the parts that show its cause, or null
 * @param group            group of the latest failure, or null if there is none
 * @param headers          names of the headers; those that fit into the first {@link #PREVIEW_BYTES} bytes
 * @param size             bytes of the stored message: body, headers, and about 10 bytes more; 0 if it was deleted
 * @param preview          beginning of the body, or null if it is missing or begins later
 * @param damage           text about unreadable parts, or null
 */
public record MessageSummary(
        String id,
        @Nullable String incarnation,
        int shard,
        State state,
        Instant at,
        @Nullable Instant due,
        int failures,
        int leaseExpirations,
        int releases,
        @Nullable String owner,
        @Nullable Instant claimedAt,
        @Nullable ErrorNote lastError,
        @Nullable ErrorGroup group,
        List<String> headers,
        int size,
        @Nullable Bytes preview,
        @Nullable String damage) {

    /** Bytes of the stored message, headers first, that a page reads. */
    public static final int PREVIEW_BYTES = 512;

    public MessageSummary {
        headers = List.copyOf(headers);
    }

    /**
     * The death of this message, for redrive and purge.
     *
     * @throws IllegalStateException if the message is not dead
     */
    public DeadLetterRef death() {
        if (state != State.DEAD) {
            throw new IllegalStateException("Message '" + LogText.of(id) + "' is not dead, but " + state + ".");
        }
        return new DeadLetterRef(id, at);
    }

    /** This message and no later one with the same id, for cancel and reschedule. */
    public MessageRef ref() {
        return new MessageRef(id, incarnation);
    }

    /** Without the error text and the body: they do not belong in logs. */
    @Override
    public String toString() {
        return "MessageSummary[id=" + LogText.of(id) + ", shard=" + shard + ", state=" + state + ", at=" + at
                + ", failures=" + failures + ", leaseExpirations=" + leaseExpirations + ", size=" + size + "]";
    }
}
