package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.ChangeOutcome;
import io.easykit.delayqueue.DelayQueueTemplate;
import io.easykit.delayqueue.DueTime;
import io.easykit.delayqueue.MessageInfo;
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
import java.util.Optional;

/** Sends by {@link Sender}, and changes messages in the store. */
final class DefaultDelayQueueTemplate implements DelayQueueTemplate {

    private final QueueBackend store;
    private final Topics topics;
    private final Sender sender;

    DefaultDelayQueueTemplate(QueueBackend store, Topics topics, Sender sender) {
        this.store = store;
        this.topics = topics;
        this.sender = sender;
    }

    @Override
    public SendResult send(OutgoingMessage message) {
        return sender.send(message);
    }

    @Override
    public List<SendResult> sendAll(List<OutgoingMessage> messages) {
        return sender.sendAll(messages);
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
