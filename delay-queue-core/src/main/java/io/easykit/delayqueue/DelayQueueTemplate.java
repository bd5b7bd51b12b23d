package io.easykit.delayqueue;

import io.easykit.delayqueue.support.NameRules;
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
 * <p><b>Ids.</b> A message with an {@linkplain OutgoingMessage#orderingKey ordering key} is stored under the key and its own id
 * together. The methods with the parameter {@code orderingKey} take both, those without it the whole id as
 * {@link SendResult#id()} returns it.
 *
 * <p><b>Errors</b> of all methods:
 *
 * <ul>
 *   <li>{@link StoreUnavailableException}: the store could not be reached, or did not answer in time.
 *       {@link StoreUnavailableException#isOutcomeUnknown()} is true if the call may have been carried out.
 *   <li>{@link StoreRefusedException}: the store refuses, and will again. Nothing was changed.
 *   <li>{@code DelayQueueDisabledException} of the starter: the queue is disabled by {@code delay-queue.enabled}. Nothing was changed.
 *   <li>{@link IllegalArgumentException}: a topic, an id, a time or a payload is not possible. Nothing was changed.
 * </ul>
 *
 * <p>Of sends besides:
 *
 * <ul>
 *   <li>{@link StoreFullException}, a {@code StoreRefusedException}: the store has no memory left. Nothing was stored.
 *   <li>{@link MessageTooLargeException}: a message is larger than the limit. Nothing was sent.
 *   <li>{@link TopicConflictException}: the topic has another number of shards than configured. Nothing was sent.
 *   <li>{@link io.easykit.delayqueue.store.SendOutboxException}: in the phase {@link SendPhase#OUTBOX} the row could not be
 *       written. Nothing was sent.
 *   <li>{@link IllegalStateException}: a send in a transaction has that phase, and the application has no outbox. Nothing was sent.
 *   <li>{@link BatchSendException}: of {@link #sendAll}, and of the messages of a transaction at its end.
 *   <li>{@link NotReplicatedException}: at the end of a transaction, if too few replicas have confirmed its messages. They are stored.
 * </ul>
 *
 * <p>{@link BatchCancelException} is thrown by {@link #cancelAll}. All but {@code IllegalArgumentException} and
 * {@code IllegalStateException} are {@link DelayQueueException}s.
 */
public interface DelayQueueTemplate {

    /** Sends a message that is due at once. */
    default SendResult send(String topic, Object payload) {
        return send(OutgoingMessage.of(topic, payload));
    }

    /** Sends a message that is due a while after the store has taken it. */
    default SendResult send(String topic, Object payload, Duration delay) {
        return send(OutgoingMessage.of(topic, payload).after(delay));
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
        return send(OutgoingMessage.of(topic, payload).after(delay).headers(headers));
    }

    /** Sends a message with all its options. */
    SendResult send(OutgoingMessage message);

    /**
     * Sends many messages, up to a hundred in one call. If the store does not answer, the operation ends after two timeouts,
     * whatever the number of messages. Inside a transaction either all of them are kept for it or, after an exception, none. Only
     * if the store and then the database fail, messages for the outbox may stay: the exception has a suppressed
     * {@code SendOutboxException}, and the transaction should roll back.
     *
     * @return one result for each message, in their order
     * @throws BatchSendException if the store did not answer for all of them; it lists the results that are known
     */
    List<SendResult> sendAll(List<OutgoingMessage> messages);

    /** Cancels a message that waits: it is never delivered. */
    ChangeOutcome cancel(String topic, String id);

    /**
     * Cancels a message that waits and was sent with an ordering key.
     *
     * @param orderingKey of the message
     * @param id that its sender chose
     * @throws IllegalArgumentException if no message can have this key or this own id
     */
    default ChangeOutcome cancel(String topic, String orderingKey, String id) {
        return cancel(topic, orderedId(orderingKey, id));
    }

    /**
     * Cancels many messages that wait, up to a hundred in one call. If the store does not answer, the operation ends after two
     * timeouts, whatever the number of messages.
     *
     * @param ids whole ids, see {@link #orderedId} for messages with an ordering key; an id that is there twice counts once
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

    /** As {@link #cancelAfterCommit(String, String)}, for a message with an ordering key and an own id. */
    default void cancelAfterCommit(String topic, String orderingKey, String id) {
        cancelAfterCommit(topic, orderedId(orderingKey, id));
    }

    /** Gives a message that waits another due time, a while from now by the store's clock. */
    ChangeOutcome reschedule(String topic, String id, Duration delay);

    /** Gives a message that waits another due time; one that has passed means at once. */
    ChangeOutcome reschedule(String topic, String id, Instant due);

    /** As {@link #reschedule(String, String, Duration)}, for a message with an ordering key and an own id. */
    default ChangeOutcome reschedule(String topic, String orderingKey, String id, Duration delay) {
        return reschedule(topic, orderedId(orderingKey, id), delay);
    }

    /** As {@link #reschedule(String, String, Instant)}, for a message with an ordering key and an own id. */
    default ChangeOutcome reschedule(String topic, String orderingKey, String id, Instant due) {
        return reschedule(topic, orderedId(orderingKey, id), due);
    }

    /** Finds a live message: waiting, in flight, or dead. */
    Optional<MessageInfo> find(String topic, String id);

    /** As {@link #find(String, String)}, for a message with an ordering key and an own id. */
    default Optional<MessageInfo> find(String topic, String orderingKey, String id) {
        return find(topic, orderedId(orderingKey, id));
    }

    /**
     * The whole id of a message with an ordering key, for {@link #cancelAll} and the administration.
     *
     * @param ownId that its sender chose
     * @throws IllegalArgumentException if no message can have this key or this own id
     */
    static String orderedId(String orderingKey, String ownId) {
        return NameRules.orderedId(orderingKey, NameRules.requireOwnId(ownId));
    }
}
