package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * The result of one send.
 *
 * @param topic   topic of the message
 * @param id      id of the message, for cancel, reschedule and find
 * @param outcome result in the store; null while the message waits for the end of its transaction, and in a {@link
 *     BatchSendException} for messages without a known outcome
 * @param replication how many replicas have confirmed the message; null without an outcome, and for a send that did not wait
 *     for replicas
 */
public record SendResult(String topic, String id, @Nullable SendOutcome outcome, @Nullable Replication replication) {

    /** Of a send that did not wait for replicas. */
    public SendResult(String topic, String id, @Nullable SendOutcome outcome) {
        this(topic, id, outcome, null);
    }

    /**
     * Whether there is no outcome: the message is kept back until its transaction ends. In a {@link BatchSendException} it was not
     * stored, or the store has not answered.
     */
    public boolean isPending() {
        return outcome == null;
    }

    /** Whether a message with this id was live already, so that this one was not stored. */
    public boolean isDuplicate() {
        return outcome == SendOutcome.DUPLICATE;
    }

    /**
     * Whether fewer replicas than wanted have confirmed the message. It is stored and will be delivered, unless the master
     * fails before its replicas have it. To send it again is safe with the same own id, and without one stores it twice.
     */
    public boolean isUnderReplicated() {
        return replication != null && !replication.isComplete();
    }

    /**
     * How many replicas have confirmed a message that is stored.
     *
     * @param wanted    replicas that the send waited for
     * @param confirmed replicas that confirmed in time; others may have it as well
     */
    public record Replication(int wanted, int confirmed) {

        /** Whether as many replicas have confirmed as the send waited for. */
        public boolean isComplete() {
            return confirmed >= wanted;
        }
    }
}
