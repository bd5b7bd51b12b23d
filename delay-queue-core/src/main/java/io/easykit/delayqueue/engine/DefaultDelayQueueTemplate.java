package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Target;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Sends by {@link Sender}, and changes messages in the store. */
final class DefaultDelayQueueTemplate implements DelayQueueTemplate {

    private final QueueBackend store;
    private final Topics topics;
    private final Sender sender;
    private final OutboxSends outbox;
    private final Interceptors interceptors;
    private final BatchCancel cancels;

    /** @param nanos a clock that only moves forward */
    DefaultDelayQueueTemplate(
            QueueBackend store,
            Topics topics,
            Sender sender,
            OutboxSends outbox,
            Interceptors interceptors,
            LongSupplier nanos) {
        this.store = store;
        this.topics = topics;
        this.sender = sender;
        this.outbox = outbox;
        this.interceptors = interceptors;
        this.cancels = new BatchCancel(store, topics, outbox, nanos);
    }

    @Override
    public SendResult send(OutgoingMessage message) {
        Objects.requireNonNull(message, "send(null): give a message.");
        return interceptors
                .send(List.of(message), one -> outbox.sendAll(one, same -> List.of(sender.send(same.get(0)))))
                .get(0);
    }

    @Override
    public List<SendResult> sendAll(List<OutgoingMessage> messages) {
        return canBeWrapped(messages)
                ? interceptors.send(messages, all -> outbox.sendAll(all, sender::sendAll))
                : sender.sendAll(messages);
    }

    /** The sender refuses null with a text of its own. */
    private static boolean canBeWrapped(List<OutgoingMessage> messages) {
        return messages != null && !messages.isEmpty() && messages.stream().noneMatch(Objects::isNull);
    }

    @Override
    public ChangeOutcome cancel(String topic, String id) {
        return outbox.withdraw(topic, id)
                ? ChangeOutcome.APPLIED
                : store.cancel(shardOf(topic, id), List.of(new Target(id, null)))
                        .get(0);
    }

    @Override
    public Map<String, ChangeOutcome> cancelAll(String topic, Collection<String> ids) {
        return cancels.cancel(topic, ids);
    }

    @Override
    public void cancelAfterCommit(String topic, String id) {
        Target target = new Target(id, null);
        outbox.withdraw(topic, id);
        sender.cancelAfterCommit(new ShardKey(topic, 0).topic(), target.id());
    }

    @Override
    public ChangeOutcome reschedule(String topic, String id, Duration delay) {
        return reschedule(topic, id, DueTime.after(delay));
    }

    @Override
    public ChangeOutcome reschedule(String topic, String id, Instant due) {
        return reschedule(topic, id, DueTime.at(due));
    }

    @Override
    public Optional<MessageInfo> find(String topic, String id) {
        return store.find(shardOf(topic, id), id).map(found -> MessageInfos.of(topic, found));
    }

    private ChangeOutcome reschedule(String topic, String id, DueTime due) {
        Reschedule move = new Reschedule(new Target(id, null), due);
        return store.reschedule(shardOf(topic, id), List.of(move)).get(0);
    }

    private ShardKey shardOf(String topic, String id) {
        NameRules.requireWellFormed(id);
        return topics.shardsToLookAt(topic, List.of(id)).shardOf(id);
    }
}
