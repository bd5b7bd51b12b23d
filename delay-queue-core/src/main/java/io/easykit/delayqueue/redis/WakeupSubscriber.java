package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.store.ShardKey;
import io.easykit.delayqueue.store.WakeupListener;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.SubscriptionListener;

/** A listener for wakeups, and the channels of its shards. */
final class WakeupSubscriber implements MessageListener, SubscriptionListener {

    private static final Logger log = LoggerFactory.getLogger(WakeupSubscriber.class);

    /** A due time in milliseconds, or a number of {@link WakeupProof}. */
    static final Pattern NUMBER = Pattern.compile("\\d{1,18}");

    private final Map<String, ShardKey> byChannel;
    private final WakeupListener listener;
    private final Set<String> confirmed;

    /** For the thread of {@link WakeupSubscriptions} only. */
    boolean subscribed;

    /** @param confirmed channels of all subscribers that the server has confirmed */
    WakeupSubscriber(Map<String, ShardKey> byChannel, WakeupListener listener, Set<String> confirmed) {
        this.byChannel = byChannel;
        this.listener = listener;
        this.confirmed = confirmed;
    }

    Set<String> channels() {
        return byChannel.keySet();
    }

    int shards() {
        return byChannel.size();
    }

    ShardKey oneShard() {
        return byChannel.values().iterator().next();
    }

    /** Whether the server sends the wakeups of all shards. */
    boolean isConfirmed() {
        return confirmed.containsAll(byChannel.keySet());
    }

    /** Wakeups before now may have been missed. Confirmed channels are reported without a call of this. */
    void begin() {
        byChannel.values().forEach(shard -> notifyListener(shard, Instant.EPOCH));
    }

    /** At the begin, and when a driver has made the subscription again on a new connection: earlier wakeups may have been missed. */
    @Override
    public void onChannelSubscribed(byte[] channel, long count) {
        String name = new String(channel, StandardCharsets.UTF_8);
        ShardKey shard = byChannel.get(name);
        if (shard != null) {
            confirmed.add(name);
            notifyListener(shard, Instant.EPOCH);
        }
    }

    @Override
    public void onChannelUnsubscribed(byte[] channel, long count) {
        confirmed.remove(new String(channel, StandardCharsets.UTF_8));
    }

    @Override
    public void onMessage(Message message, byte @Nullable [] pattern) {
        ShardKey shard = byChannel.get(new String(message.getChannel(), StandardCharsets.UTF_8));
        String due = new String(message.getBody(), StandardCharsets.US_ASCII);
        if (shard != null && NUMBER.matcher(due).matches()) {
            notifyListener(shard, Instant.ofEpochMilli(Long.parseLong(due)));
        }
    }

    private void notifyListener(ShardKey shard, Instant due) {
        try {
            listener.onEarlierDue(shard, due);
        } catch (RuntimeException e) {
            log.warn("The listener for wakeups of {} failed. Its messages are found by the next poll.", shard, e);
        }
    }
}
