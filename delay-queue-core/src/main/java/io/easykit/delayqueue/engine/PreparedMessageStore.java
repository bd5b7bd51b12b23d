package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayQueueEvent;
import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.SendOutcome;
import io.easykit.delayqueue.SendResult.Replication;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.delayqueue.engine.PreparedMessage.Stored;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.LogText;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stores prepared messages: batches, repetitions, and the known outcome of each message after a failure. */
final class PreparedMessageStore {

    private static final Logger log = LoggerFactory.getLogger(PreparedMessageStore.class);

    private final SendBatcher groups;
    private final MessageEncoder encoder;
    private final AwayShards away;
    private final Events events;
    private final RepeatedLines lines;
    private final LongSupplier nanos;

    /** @param nanos a clock that only moves forward */
    PreparedMessageStore(
            SendBatcher groups,
            MessageEncoder encoder,
            AwayShards away,
            Events events,
            RepeatedLines lines,
            LongSupplier nanos) {
        this.groups = groups;
        this.encoder = encoder;
        this.away = away;
        this.events = events;
        this.lines = lines;
        this.nanos = nanos;
    }

    /** Stores the messages; a failure of any is thrown as it is. */
    void store(List<PreparedMessage> messages, SendRetry retry) {
        retry.send(
                messages,
                open -> PreparedMessage.byShard(open, (shard, some) -> call(shard, some, retry)),
                encoder::reroute);
    }

    /**
     * Stores as many messages as possible. A failure is thrown at the end, with the known outcome of each message.
     *
     * @param all messages of the caller's list, for the exception
     */
    void storeMany(List<PreparedMessage> messages, List<PreparedMessage> all, SendRetry retry, OutageTimeLimit first) {
        Round round = new Round(first, retry);
        try {
            retry.send(messages, round::send, encoder::reroute);
        } catch (StoreUnavailableException e) {
            throw PreparedMessage.failure(all, round.refusal == null ? e : round.refusal);
        }
        if (round.refusal != null) {
            throw PreparedMessage.failure(all, round.refusal);
        }
    }

    /** Stores messages again that met another one of the same id just before the commit. A failure is a warning. */
    void storeAgain(List<PreparedMessage> duplicates, OutageTimeLimit outageLimit) {
        try {
            PreparedMessage.byShard(duplicates, (shard, some) -> outageLimit.call(shard, () -> call(shard, some)));
        } catch (DelayQueueException e) {
            lines.warn(
                    log,
                    duplicates.get(0).shard().topic(),
                    "The ids of {} messages were live just before the commit; whether they are after it is not known: {}: {}",
                    duplicates.size(),
                    LogText.list(duplicates.stream().map(PreparedMessage::id).toList()),
                    LogText.of(e.toString()));
        }
    }

    /** Attempts to store a list, as much of it as possible. Refused messages are not tried again. */
    private final class Round {

        private final Set<PreparedMessage> refused = new HashSet<>();
        private final SendRetry retry;
        private OutageTimeLimit outageLimit;
        private @Nullable DelayQueueException refusal;

        Round(OutageTimeLimit first, SendRetry retry) {
            this.outageLimit = first;
            this.retry = retry;
        }

        void send(List<PreparedMessage> messages) {
            StoreUnavailableException[] failure = new StoreUnavailableException[1];
            List<PreparedMessage> open = messages.stream()
                    .filter(message -> !refused.contains(message))
                    .toList();
            PreparedMessage.byShard(open, (shard, some) -> {
                try {
                    outageLimit.call(shard, () -> call(shard, some, retry));
                } catch (StoreUnavailableException e) {
                    failure[0] = failure[0] == null ? e : failure[0];
                } catch (DelayQueueException e) {
                    refusal = refusal == null ? e : refusal;
                    refused.addAll(some);
                }
            });
            outageLimit = new OutageTimeLimit(nanos);
            if (failure[0] != null) {
                throw failure[0];
            }
        }
    }

    private void call(ShardKey shard, List<PreparedMessage> messages, SendRetry retry) {
        retry.requireInTime(messages);
        call(shard, messages);
    }

    private void call(ShardKey shard, List<PreparedMessage> messages) {
        List<Stored> replies = send(shard, messages);
        for (int i = 0; i < messages.size(); i++) {
            record(messages.get(i), replies.get(i));
        }
        warnOfMissingReplicas(shard.topic(), messages, replies.get(0).replication());
    }

    /**
     * Records that this is a duplicate, without a call: its transaction stores, or has stored, another message with its id.
     *
     * @param stored that message; null if it is stored later
     */
    void leaveOut(PreparedMessage duplicate, @Nullable PreparedMessage stored) {
        ReplicaWait wait = duplicate.replicaWait();
        Replication replication = wait == null || stored == null ? null : stored.replication(wait.replicas());
        record(duplicate, new Stored(SendOutcome.DUPLICATE, replication));
    }

    private void record(PreparedMessage message, Stored reply) {
        if (message.recordOutcome(reply)) {
            events.emit(new DelayQueueEvent.Sent(message.shard().topic(), message.id(), reply.outcome()));
        }
    }

    /** Callers need not read the result of a send. */
    private void warnOfMissingReplicas(
            String topic, List<PreparedMessage> messages, @Nullable Replication replication) {
        if (replication != null && !replication.isComplete()) {
            lines.warn(
                    log,
                    topic,
                    "{} messages of {} are stored, but {} of {} replicas have confirmed them in time: {}. They are"
                            + " lost if the master fails before its replicas have them. Check the replicas.",
                    messages.size(),
                    topic,
                    replication.confirmed(),
                    replication.wanted(),
                    LogText.list(messages.stream().map(PreparedMessage::id).toList()));
        }
    }

    private List<Stored> send(ShardKey shard, List<PreparedMessage> messages) {
        try {
            PreparedMessage first = messages.get(0);
            // A repetition of a send that may be stored waits for no other call: see SendRetry.
            List<Stored> replies = messages.size() == 1 && !first.isUnknown()
                    ? List.of(groups.send(shard, first.message(), first.replicaWait()))
                    : groups.sendList(
                            shard,
                            messages.stream().map(PreparedMessage::message).toList(),
                            first.replicaWait());
            away.answered(shard);
            return replies;
        } catch (RuntimeException | Error e) {
            if (e instanceof StoreUnavailableException) {
                away.failed(shard);
            }
            if (SendRetry.mayBeCarriedOut(e)) {
                messages.forEach(PreparedMessage::doubt);
            }
            throw e;
        }
    }
}
