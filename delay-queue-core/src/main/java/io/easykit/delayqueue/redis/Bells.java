package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.QueueStore.BellListener;
import io.easykit.delayqueue.QueueStore.Subscription;
import io.easykit.delayqueue.ShardKey;
import io.easykit.delayqueue.StoreUnavailableException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

/** The bells of all shards on one connection, which is opened with the first subscription. */
final class Bells implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Bells.class);

    private static final long RECOVERY_MILLIS = 1000;

    private final RedisConnectionFactory connections;
    private final RedisKeys keys;
    private @Nullable RedisMessageListenerContainer container;

    Bells(RedisConnectionFactory connections, RedisKeys keys) {
        this.connections = connections;
        this.keys = keys;
    }

    synchronized Subscription subscribe(Collection<ShardKey> shards, BellListener listener) {
        Map<String, ShardKey> byChannel =
                shards.stream().distinct().collect(Collectors.toMap(keys::bell, Function.identity()));
        MessageListener adapter = (message, pattern) -> {
            ShardKey shard = byChannel.get(new String(message.getChannel(), StandardCharsets.UTF_8));
            if (shard != null) {
                tell(listener, shard, message.getBody());
            }
        };
        RedisMessageListenerContainer current;
        try {
            current = started();
            current.addMessageListener(
                    adapter, byChannel.keySet().stream().map(ChannelTopic::new).toList());
        } catch (DataAccessException e) {
            throw new StoreUnavailableException(
                    "Redis takes no subscription to bells at the moment: " + e.getMessage(), e);
        }
        return () -> current.removeMessageListener(adapter);
    }

    @Override
    public synchronized void close() {
        RedisMessageListenerContainer current = container;
        container = null;
        if (current != null) {
            try {
                current.destroy();
            } catch (Exception e) {
                log.debug("The bell did not end cleanly", e);
            }
        }
    }

    private RedisMessageListenerContainer started() {
        RedisMessageListenerContainer current = container;
        if (current == null) {
            current = new RedisMessageListenerContainer();
            current.setConnectionFactory(connections);
            current.setTaskExecutor(Runnable::run);
            current.setRecoveryInterval(RECOVERY_MILLIS);
            current.afterPropertiesSet();
            current.start();
            container = current;
        }
        return current;
    }

    private static void tell(BellListener listener, ShardKey shard, byte[] due) {
        try {
            listener.onBell(shard, Instant.ofEpochMilli(Long.parseLong(new String(due, StandardCharsets.US_ASCII))));
        } catch (RuntimeException e) {
            log.warn("The listener of the bell of {} failed", shard, e);
        }
    }
}
