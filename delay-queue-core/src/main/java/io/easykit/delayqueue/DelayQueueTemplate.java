package io.easykit.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Sends messages that are delivered later, and changes them while they wait.
 *
 * <p>Inside a transaction a send is kept back by its {@link SendPhase} and its result is pending; the sends of a transaction
 * go out together. Cancel, reschedule and find act at once, inside of transactions too, and do not know of what the
 * transaction has still to send; {@link #cancelAfterCommit} does.
 *
 * <p>Errors: {@link StoreUnavailableException} when the store did not answer in time, and the message may be stored or not;
 * {@link StoreFullException}; {@link StoreRefusedException}; {@link IllegalArgumentException} for what cannot be sent.
 * {@link TopicConflictException} when the topic has another number of shards than configured.
 */
public interface DelayQueueTemplate {

    /** Sends a message that is due a while after the store has taken it. */
    default SendResult send(String topic, Object payload, Duration delay) {
        return send(OutgoingMessage.of(topic, payload).in(delay));
    }

    /** Sends a message that is due at an instant by the store's clock; one that has passed is due at once. */
    default SendResult send(String topic, Object payload, Instant due) {
        return send(OutgoingMessage.of(topic, payload).at(due));
    }

    /** Sends a message with all its options. */
    SendResult send(OutgoingMessage message);

    /**
     * Sends many messages, up to a hundred in one call. A store that does not answer is waited for twice at most, whatever
     * the number of messages. Inside a transaction either all are kept for it or, after an exception, none.
     *
     * @return for each message in order
     * @throws BatchSendException when the store did not answer for all of them; it says for which it did
     */
    List<SendResult> sendAll(List<OutgoingMessage> messages);

    /** Ends a message that waits. */
    ChangeOutcome cancel(String topic, String id);

    /**
     * Ends a message after the commit of this thread's transaction, or at once where there is none. If the store is away
     * then, the message is delivered although it should not be: a caller that has committed cannot be failed for that, and
     * a handler looks at the state of things anyway.
     */
    void cancelAfterCommit(String topic, String id);

    /** Gives a message that waits another due time, a while from now. */
    ChangeOutcome reschedule(String topic, String id, Duration delay);

    /** Gives a message that waits another due time. */
    ChangeOutcome reschedule(String topic, String id, Instant due);

    /** A look at a live message: waiting, in flight, or dead. */
    Optional<MessageInfo> find(String topic, String id);
}
