package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.BatchSendException;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult;
import io.easykit.delayqueue.SendResult.Replication;
import io.easykit.delayqueue.store.Claim;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A message encoded for its shard, and its outcome in the store so far. */
final class PreparedMessage {

    private final long nonce;
    private final Duration sendTimeout;
    private @Nullable ReplicaWait replicaWait;
    private ShardKey shard;
    private NewMessage message;
    private boolean isIdPromised;
    private @Nullable SendOutcome outcome;
    private @Nullable Replication replication;
    private boolean unknown;

    /**
     * @param nonce distinguishes this incarnation of the id from others
     */
    PreparedMessage(
            ShardKey shard, NewMessage message, long nonce, Duration sendTimeout, @Nullable ReplicaWait replicaWait) {
        this.sendTimeout = sendTimeout;
        this.replicaWait = replicaWait;
        this.shard = shard;
        this.message = message;
        this.nonce = nonce;
    }

    ShardKey shard() {
        return shard;
    }

    NewMessage message() {
        return message;
    }

    long nonce() {
        return nonce;
    }

    Duration sendTimeout() {
        return sendTimeout;
    }

    /** Null if the send does not wait for replicas. */
    @Nullable ReplicaWait replicaWait() {
        return replicaWait;
    }

    /** Stands for another message with this key, which is not sent: waits for as many replicas. Returns this message. */
    PreparedMessage alsoFor(PreparedMessage other) {
        ReplicaWait wait = other.replicaWait;
        if (wait != null && (replicaWait == null || replicaWait.replicas() < wait.replicas())) {
            replicaWait = wait;
        }
        return this;
    }

    String id() {
        return message.id();
    }

    /** Properties that all sends of one id share. */
    Map.Entry<ShardKey, String> key() {
        return Map.entry(shard, id());
    }

    Target target() {
        return new Target(id(), Envelope.incarnation(nonce));
    }

    /** The id was returned to the caller before the message is stored, so the message stays in its shard. */
    void promiseId() {
        isIdPromised = true;
    }

    /** Gives a message that is surely not stored another shard, and with it another id. */
    void moveTo(int other) {
        shard = new ShardKey(shard.topic(), other);
        message = new NewMessage(MessageIds.generate(other), message.due(), message.frame());
    }

    boolean isMovable() {
        return MessageIds.isMovable(id()) && !isIdPromised && !unknown && outcome == null;
    }

    /** Whether it is in the store, or may be. Not if its id met a live message, which is another one. */
    boolean mayBeStored() {
        return (unknown || outcome != null) && !isDuplicate();
    }

    /** Outcome in the store; null while it is unknown. */
    @Nullable SendOutcome outcome() {
        return outcome;
    }

    /** How many of the wanted replicas have confirmed it; none if its send did not wait for replicas. */
    Replication replication(int wanted) {
        Replication known = replication;
        return new Replication(wanted, known == null ? 0 : known.confirmed());
    }

    /** Whether the id belonged to another message when this one was last sent. */
    boolean isDuplicate() {
        return outcome == SendOutcome.DUPLICATE;
    }

    /** A send got no answer: the message may be stored or not. */
    void doubt() {
        unknown = true;
    }

    boolean isUnknown() {
        return unknown && outcome == null;
    }

    /** Records the outcome; false if there was one already. */
    boolean recordOutcome(Stored said) {
        boolean news = outcome != said.outcome();
        outcome = said.outcome();
        replication = said.replication();
        return news;
    }

    /**
     * The reply of the store for one message.
     *
     * @param replication null if the send did not wait for replicas
     */
    record Stored(SendOutcome outcome, @Nullable Replication replication) {}

    SendResult result() {
        return new SendResult(shard.topic(), id(), outcome, replication);
    }

    /** Reports the known outcome of each message. */
    static BatchSendException failure(List<PreparedMessage> all, DelayQueueException cause) {
        return new BatchSendException(
                all.stream().map(PreparedMessage::result).toList(),
                all.stream()
                        .filter(PreparedMessage::isUnknown)
                        .map(PreparedMessage::result)
                        .toList(),
                cause);
    }

    /** Bytes of one call; a larger message goes alone. */
    private static final int MOST_BYTES = Claim.MOST_BYTES;

    /**
     * Calls for each shard, and for no more messages and bytes than a call takes. The messages of one shard keep their order, so
     * a change of the wait for replicas begins another call.
     */
    static void byShard(List<PreparedMessage> messages, BiConsumer<ShardKey, List<PreparedMessage>> call) {
        messages.stream()
                .collect(Collectors.groupingBy(PreparedMessage::shard, LinkedHashMap::new, Collectors.toList()))
                .forEach((shard, all) -> calls(all).forEach(some -> call.accept(shard, some)));
    }

    /** Whether two messages of a shard may share a call. Those whose earlier call had no reply do not wait for others. */
    private boolean isCalledWith(PreparedMessage other) {
        return Objects.equals(replicaWait, other.replicaWait) && isUnknown() == other.isUnknown();
    }

    private static List<List<PreparedMessage>> calls(List<PreparedMessage> all) {
        List<List<PreparedMessage>> calls = new ArrayList<>();
        int from = 0;
        long bytes = 0;
        for (int i = 0; i < all.size(); i++) {
            int size = all.get(i).message.frame().length();
            if (i > from
                    && (i - from == QueueStore.MAX_BATCH
                            || bytes + size > MOST_BYTES
                            || !all.get(i).isCalledWith(all.get(from)))) {
                calls.add(all.subList(from, i));
                from = i;
                bytes = 0;
            }
            bytes += size;
        }
        calls.add(all.subList(from, all.size()));
        return calls;
    }
}
