package io.easykit.delayqueue;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Sends messages that are delivered later, and changes them while they wait.
 *
 * <p>Inside a transaction the {@link SendPhase} decides when a message is stored. Until then its result is pending. The
 * messages of one transaction are sent together. Cancel, reschedule and find act at once, also inside a transaction, and do
 * not see messages that the transaction has not sent yet; {@link #cancelAfterCommit} does.
 *
 * <p>Errors: {@link StoreUnavailableException} if the store did not answer in time, so the message may be stored or not;
 * {@link StoreFullException}; {@link StoreRefusedException}; {@link TopicConflictException} from sends if the topic has
 * another number of shards than configured; {@link IllegalArgumentException} for a message that cannot be sent.
 */
public interface DelayQueueTemplate {

    /** Sends a message that is due at once. */
    default SendResult send(String topic, Object payload) {
        return send(OutgoingMessage.of(topic, payload));
    }

    /** Sends a message that is due a while after the store has taken it. */
    default SendResult send(String topic, Object payload, Duration delay) {
        return send(OutgoingMessage.of(topic, payload).in(delay));
    }

    /** Sends a message that is due at an instant by the store's clock; one that has passed is due at once. */
    default SendResult send(String topic, Object payload, Instant due) {
        return send(OutgoingMessage.of(topic, payload).at(due));
    }

    /** Sends a message that is due at the instant of a date with a time zone. */
    default SendResult send(String topic, Object payload, ZonedDateTime due) {
        return send(OutgoingMessage.of(topic, payload).at(due));
    }

    /** Sends a message with headers that is due a while after the store has taken it. */
    default SendResult send(String topic, Object payload, Duration delay, Map<String, String> headers) {
        return send(OutgoingMessage.of(topic, payload).in(delay).headers(headers));
    }

    /** Sends a message with all its options. */
    SendResult send(OutgoingMessage message);

    /**
     * Sends many messages, up to a hundred in one call. If the store does not answer, the operation ends after two timeouts,
     * whatever the number of messages. Inside a transaction either all of them are kept for it or, after an exception, none.
     *
     * @return one result for each message, in their order
     * @throws BatchSendException if the store did not answer for all of them; it lists the results that are known
     */
    List<SendResult> sendAll(List<OutgoingMessage> messages);

    /** Ends a message that waits. */
    ChangeOutcome cancel(String topic, String id);

    /**
     * Ends many messages that wait, up to a hundred in one call. If the store does not answer, the operation ends after two
     * timeouts, whatever the number of messages.
     *
     * @param ids an id that is there twice counts once
     * @return the outcomes by id, in the order of the ids
     * @throws IllegalArgumentException for an id that no message can have; nothing is cancelled then
     * @throws BatchCancelException if some messages may be cancelled or not; it has the outcomes that are known
     */
    Map<String, ChangeOutcome> cancelAll(String topic, Collection<String> ids);

    /**
     * Cancels a message after the commit of this thread's transaction, or at once without a transaction. If the store is away
     * at that time, the message is delivered all the same, because the commit cannot be undone. Handlers must check the
     * current state.
     */
    void cancelAfterCommit(String topic, String id);

    /** Gives a message that waits another due time, a while from now. */
    ChangeOutcome reschedule(String topic, String id, Duration delay);

    /** Gives a message that waits another due time. */
    ChangeOutcome reschedule(String topic, String id, Instant due);

    /** Finds a live message: waiting, in flight, or dead. */
    Optional<MessageInfo> find(String topic, String id);
}
