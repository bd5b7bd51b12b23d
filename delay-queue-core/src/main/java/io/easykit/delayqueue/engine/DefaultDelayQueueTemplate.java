package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.DueTime;
import io.easykit.delayqueue.MessageInfo;
import io.easykit.delayqueue.MessageInterceptor;
import io.easykit.delayqueue.NameRules;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.store.QueueBackend;
import io.easykit.delayqueue.store.Reschedule;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Target;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Sends by {@link Sender}, and changes messages in the store. */
final class DefaultDelayQueueTemplate implements DelayQueueTemplate {

    private final QueueBackend store;
    private final Topics topics;
    private final Sender sender;
    private final MessageInterceptor interceptor;

    DefaultDelayQueueTemplate(QueueBackend store, Topics topics, Sender sender, MessageInterceptor interceptor) {
        this.store = store;
        this.topics = topics;
        this.sender = sender;
        this.interceptor = interceptor;
    }

    @Override
    public SendResult send(OutgoingMessage message) {
        Objects.requireNonNull(message, "send(null): give a message.");
        if (interceptor == MessageInterceptor.NONE) {
            return sender.send(message);
        }
        return interceptor
                .send(List.of(message), one -> List.of(sender.send(one.get(0))))
                .get(0);
    }

    @Override
    public List<SendResult> sendAll(List<OutgoingMessage> messages) {
        if (interceptor == MessageInterceptor.NONE || !canBeWrapped(messages)) {
            return sender.sendAll(messages);
        }
        return interceptor.send(messages, sender::sendAll);
    }

    /** The sender refuses null with a text of its own. */
    private static boolean canBeWrapped(List<OutgoingMessage> messages) {
        return messages != null && !messages.isEmpty() && messages.stream().noneMatch(Objects::isNull);
    }

    @Override
    public ChangeOutcome cancel(String topic, String id) {
        return store.cancel(shardOf(topic, id), List.of(new Target(id, null))).get(0);
    }

    @Override
    public void cancelAfterCommit(String topic, String id) {
        Target target = new Target(id, null);
        sender.cancelAfterCommit(new ShardKey(topic, 0).topic(), target.id());
    }

    @Override
    public ChangeOutcome reschedule(String topic, String id, Duration delay) {
        return reschedule(topic, id, DueTime.in(delay));
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
        return new ShardKey(topic, MessageIds.shardOf(id, topics.shardsToLookAt(topic)));
    }
}
