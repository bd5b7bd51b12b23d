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
public final class DelayQueueTemplate {

    private final QueueStore store;
    private final Topics topics;
    private final Sender sender;

    DelayQueueTemplate(QueueStore store, Topics topics, Sender sender) {
        this.store = store;
        this.topics = topics;
        this.sender = sender;
    }

    /** Sends a message that is due a while after the store has taken it. */
    public SendResult send(String topic, Object payload, Duration delay) {
        return send(OutgoingMessage.of(topic, payload).in(delay));
    }

    /** Sends a message that is due at an instant by the store's clock; one that has passed is due at once. */
    public SendResult send(String topic, Object payload, Instant due) {
        return send(OutgoingMessage.of(topic, payload).at(due));
    }

    public SendResult send(OutgoingMessage message) {
        return sender.send(message);
    }

    /**
     * Sends many messages, up to a hundred in one call. A store that does not answer is waited for twice at most, whatever
     * the number of messages. Inside a transaction either all are kept for it or, after an exception, none.
     *
     * @return for each message in order
     * @throws BatchSendException when the store did not answer for all of them; it says for which it did
     */
    public List<SendResult> sendAll(List<OutgoingMessage> messages) {
        return sender.sendAll(messages);
    }

    /** Ends a message that waits. */
    public ChangeOutcome cancel(String topic, String id) {
        return store.cancel(shardOf(topic, id), List.of(new QueueStore.Target(id, null)))
                .get(0);
    }

    /**
     * Ends a message after the commit of this thread's transaction, or at once where there is none. If the store is away
     * then, the message is delivered although it should not be: a caller that has committed cannot be failed for that, and
     * a handler looks at the state of things anyway.
     */
    public void cancelAfterCommit(String topic, String id) {
        QueueStore.Target target = new QueueStore.Target(id, null);
        sender.cancelAfterCommit(new ShardKey(topic, 0).topic(), target.id());
    }

    /** Gives a message that waits another due time, a while from now. */
    public ChangeOutcome reschedule(String topic, String id, Duration delay) {
        return reschedule(topic, id, Due.in(delay));
    }

    /** Gives a message that waits another due time. */
    public ChangeOutcome reschedule(String topic, String id, Instant due) {
        return reschedule(topic, id, Due.at(due));
    }

    /** A look at a live message: waiting, in flight, or dead. */
    public Optional<StoredMessage> find(String topic, String id) {
        return store.find(shardOf(topic, id), id);
    }

    private ChangeOutcome reschedule(String topic, String id, Due due) {
        QueueStore.Move move = new QueueStore.Move(new QueueStore.Target(id, null), due);
        return store.reschedule(shardOf(topic, id), List.of(move)).get(0);
    }

    private ShardKey shardOf(String topic, String id) {
        MessageIds.requireWellFormed(id);
        return new ShardKey(topic, MessageIds.shardOf(id, topics.shardsToLookAt(topic)));
    }
}
