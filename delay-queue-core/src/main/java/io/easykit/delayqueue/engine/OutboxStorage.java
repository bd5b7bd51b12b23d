package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.SendOutbox.Send;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.DueTime;
import io.easykit.delayqueue.time.LoopExecutor;
import java.time.Duration;
import java.util.List;

/** Makes messages from rows of the outbox, and stores them. */
final class OutboxStorage {

    private final Topics topics;
    private final PreparedMessageStore storage;
    private final OutboxClock clock;
    private final LoopExecutor loops;
    private final Duration commandTimeout;

    OutboxStorage(
            Topics topics,
            PreparedMessageStore storage,
            OutboxClock clock,
            LoopExecutor loops,
            Duration commandTimeout) {
        this.topics = topics;
        this.storage = storage;
        this.clock = clock;
        this.loops = loops;
        this.commandTimeout = commandTimeout;
    }

    ShardKey shard(Send send) {
        return topics.shardsToStore(send.topic(), send.id()).shardOf(send.id());
    }

    /** Number of shards of a topic as far as it is known. */
    int expectedShards(String topic) {
        return topics.expected(topic).all();
    }

    PreparedMessage message(Send send, ShardKey shard, Bytes frame) {
        long due = send.isDelay() ? Math.max(0, send.dueAt() - clock.millis()) : send.dueAt();
        PreparedMessage message = new PreparedMessage(
                shard,
                new NewMessage(send.id(), new DueTime(send.isDelay(), due), frame),
                send.nonce(),
                Duration.ZERO,
                send.replicaWait());
        message.promiseId();
        return message;
    }

    /** Tries once. */
    void store(List<PreparedMessage> messages) {
        storage.store(messages, new SendRetry(loops, Duration.ZERO, commandTimeout));
    }

    OutageTimeLimit outageLimit() {
        return new OutageTimeLimit(loops::nanos);
    }
}
