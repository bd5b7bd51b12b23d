package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * What became of one message that was sent.
 *
 * @param topic   where it was sent to
 * @param id      own or generated; names the message for cancel, reschedule and find
 * @param outcome what the store did; null while the message waits for the end of its transaction, and in a
 *                {@link BatchSendException} for those whose fate is not known
 */
public record SendResult(String topic, String id, @Nullable SendOutcome outcome) {

    /** Whether the message is kept back until its transaction ends. */
    public boolean isPending() {
        return outcome == null;
    }

    /** Whether a message with this id was live already, so that this one was not stored. */
    public boolean isDuplicate() {
        return outcome == SendOutcome.DUPLICATE;
    }
}
