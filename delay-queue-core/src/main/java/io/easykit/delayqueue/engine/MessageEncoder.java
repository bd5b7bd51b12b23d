package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.MessageTooLargeException;
import io.easykit.delayqueue.OutgoingMessage;
import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.delayqueue.PayloadCodec;
import io.easykit.delayqueue.store.NewMessage;
import io.easykit.delayqueue.store.QueueStore;
import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.support.Bytes;
import io.easykit.delayqueue.support.NameRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Encodes messages, and chooses an id and a shard for each. */
final class MessageEncoder {

    private final Topics topics;
    private final PayloadCodec codec;
    private final AwayShards away;
    private final Duration sendTimeout;
    private final Function<String, @Nullable ReplicaWait> replicaWaits;
    private final int maxMessageBytes;

    /**
     * @param away            shards that new messages avoid
     * @param sendTimeout     of messages without one of their own
     * @param replicaWaits    by topic, for messages without a wait of their own
     * @param maxMessageBytes maximum size of an encoded message
     */
    MessageEncoder(
            Topics topics,
            PayloadCodec codec,
            AwayShards away,
            Duration sendTimeout,
            Function<String, @Nullable ReplicaWait> replicaWaits,
            int maxMessageBytes) {
        this.topics = topics;
        this.codec = codec;
        this.away = away;
        this.sendTimeout = sendTimeout;
        this.replicaWaits = replicaWaits;
        this.maxMessageBytes = maxMessageBytes;
    }

    PreparedMessage prepare(OutgoingMessage message) {
        TopicShards shards = topics.shards(message.topic());
        return prepare(message, shards, ThreadLocalRandom.current().nextInt(shards.open()));
    }

    /** Calls no store. The shard of a generated id is one of those that are known. */
    PreparedMessage prepareWithoutStore(OutgoingMessage message) {
        TopicShards shards = topics.expected(message.topic());
        return prepare(message, shards, ThreadLocalRandom.current().nextInt(shards.open()));
    }

    List<PreparedMessage> prepareAll(List<OutgoingMessage> messages) {
        List<PreparedMessage> all = new ArrayList<>(messages.size());
        int begin = ThreadLocalRandom.current().nextInt(ShardKey.MAX_SHARDS);
        for (int i = 0; i < messages.size(); i++) {
            OutgoingMessage message = messages.get(i);
            // A call's worth of generated ids goes to one shard, the next to another: few trips, and an even spread.
            TopicShards shards = topics.shards(message.topic());
            int shard = (begin + i / QueueStore.MAX_BATCH) % shards.open();
            all.add(prepare(message, shards, shard));
        }
        return all;
    }

    /** @param preferred the shard of a generated id, unless it is away */
    private PreparedMessage prepare(OutgoingMessage message, TopicShards shards, int preferred) {
        long nonce = ThreadLocalRandom.current().nextLong();
        Bytes body = codec.encode(message.payload(), message.payloadType());
        Bytes frame = new Envelope(nonce, message.headers(), message.retry(), body).encode();
        if (frame.length() > maxMessageBytes) {
            throw new MessageTooLargeException(message.topic(), frame.length(), maxMessageBytes);
        }
        String id = id(message, shards, preferred);
        ShardKey key = shards.shardOf(id);
        ReplicaWait own = message.replicaWait();
        ReplicaWait wait = own == null ? replicaWaits.apply(message.topic()) : own;
        return new PreparedMessage(key, new NewMessage(id, message.due(), frame), nonce, timeout(message), wait);
    }

    private String id(OutgoingMessage message, TopicShards shards, int preferred) {
        String key = message.orderingKey();
        String ownId = message.id();
        if (ownId != null) {
            return key == null ? ownId : NameRules.orderedId(key, ownId);
        }
        return key == null
                ? MessageIds.generate(away.choose(message.topic(), shards.open(), preferred))
                : MessageIds.generate(key);
    }

    Duration timeout(OutgoingMessage message) {
        Duration own = message.sendTimeout();
        return own == null ? sendTimeout : own;
    }

    /** Another shard for a message whose shard is away. */
    void reroute(PreparedMessage message) {
        if (message.isMovable()) {
            String topic = message.shard().topic();
            int shard = away.choose(topic, topics.shards(topic).open());
            if (shard != message.shard().shard()) {
                message.moveTo(shard);
            }
        }
    }
}
