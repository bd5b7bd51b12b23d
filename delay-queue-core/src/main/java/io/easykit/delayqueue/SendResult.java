package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * The result of one send.
 *
 * @param topic   topic of the message
 * @param id      id of the message, for cancel, reschedule and find
 * @param outcome result in the store; null while the message waits for the end of its transaction, and in a {@link
 *     BatchSendException} for messages without a known outcome
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
