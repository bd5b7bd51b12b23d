package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.QueueStore.BellListener;
import io.easykit.delayqueue.QueueStore.Subscription;
import io.easykit.delayqueue.ShardKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;

/**
 * The bells of all shards on one connection. A thread of its own subscribes, and tries again while Redis does not take the
 * subscriptions, so that nobody waits for a mere hint. When the first subscription is asked for, and after a failure, it
 * begins with a new connection.
 */
final class Bells implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Bells.class);

    private static final long PAUSE_MILLIS = 1_000;
    private static final long PAUSE_AFTER_REFUSAL_MILLIS = 60_000;

    private final RedisConnectionFactory connections;
    private final RedisKeys keys;
    private final ScheduledThreadPoolExecutor thread;

    // For the thread only.
    private final Set<Ear> ears = new LinkedHashSet<>();
    private @Nullable RedisMessageListenerContainer container;

    Bells(RedisConnectionFactory connections, RedisKeys keys) {
        this.connections = connections;
        this.keys = keys;
        this.thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread created = new Thread(task, "delay-queue-bells");
            created.setDaemon(true);
            return created;
        });
        // It has something to do at the start, at the stop, and when Redis is away: it ends in between.
        thread.setKeepAliveTime(1, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    Subscription subscribe(Collection<ShardKey> shards, BellListener listener) {
        Map<String, ShardKey> byChannel =
                shards.stream().distinct().collect(Collectors.toMap(keys::bell, Function.identity()));
        Ear ear = new Ear(byChannel, listener);
        CompletableFuture<Void> unused = begin(() -> {
            ears.add(ear);
            listen();
        });
        return () -> await(begin(() -> remove(ear)));
    }

    @Override
    public void close() {
        CompletableFuture<Void> end = begin(this::hangUp);
        thread.shutdown();
        await(end);
    }

    private CompletableFuture<Void> begin(Runnable task) {
        try {
            return CompletableFuture.runAsync(task, thread);
        } catch (RejectedExecutionException e) {
            log.debug("The store is closed, and with it all bells", e);
            return CompletableFuture.completedFuture(null);
        }
    }

    /** For a moment, so that the owner of the connections does not close them before the bells have ended. */
    private static void await(CompletableFuture<Void> task) {
        task.completeOnTimeout(null, 1, TimeUnit.SECONDS).join();
    }

    /** Subscribes those who are not subscribed yet. */
    private void listen() {
        try {
            for (Ear ear : ears) {
                if (!ear.subscribed) {
                    started().addMessageListener(ear, ear.topics());
                    ear.subscribed = true;
                    ear.begin();
                }
            }
        } catch (RuntimeException e) {
            hangUp();
            again(e);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a try throws nothing
    private void again(RuntimeException failure) {
        String refusal = ScriptRunner.errorReply(failure);
        if (refusal == null) {
            log.debug("Redis takes no subscription to bells at the moment", failure);
        } else {
            log.warn(
                    "Messages that are due earlier than those before them may be a second late, because Redis refuses"
                            + " subscriptions. Let its user subscribe to {}: {}",
                    keys.allBells(),
                    refusal);
        }
        if (!thread.isShutdown()) {
            thread.schedule(
                    this::listen, refusal == null ? PAUSE_MILLIS : PAUSE_AFTER_REFUSAL_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void remove(Ear ear) {
        ears.remove(ear);
        if (ears.isEmpty()) {
            hangUp();
        } else if (ear.subscribed && container != null) {
            try {
                container.removeMessageListener(ear);
            } catch (RuntimeException e) {
                log.debug("A bell did not end cleanly", e);
            }
        }
    }

    private void hangUp() {
        RedisMessageListenerContainer current = container;
        container = null;
        ears.forEach(ear -> ear.subscribed = false);
        if (current != null) {
            try {
                current.destroy();
            } catch (Exception e) {
                log.debug("The bells did not end cleanly", e);
            }
        }
    }

    private RedisMessageListenerContainer started() {
        RedisMessageListenerContainer current = container;
        if (current == null) {
            current = new RedisMessageListenerContainer();
            current.setConnectionFactory(connections);
            current.setTaskExecutor(Runnable::run);
            current.setRecoveryInterval(PAUSE_MILLIS);
            current.afterPropertiesSet();
            current.start();
            container = current;
        }
        return current;
    }

    /** One who listens. */
    private static final class Ear implements MessageListener {

        private final Map<String, ShardKey> byChannel;
        private final BellListener listener;
        private boolean subscribed;

        Ear(Map<String, ShardKey> byChannel, BellListener listener) {
            this.byChannel = byChannel;
            this.listener = listener;
        }

        List<ChannelTopic> topics() {
            return byChannel.keySet().stream().map(ChannelTopic::new).toList();
        }

        /** What came before may have been missed. */
        void begin() {
            byChannel.values().forEach(shard -> tell(shard, Instant.EPOCH));
        }

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            ShardKey shard = byChannel.get(new String(message.getChannel(), StandardCharsets.UTF_8));
            String due = new String(message.getBody(), StandardCharsets.US_ASCII);
            if (shard != null && due.matches("\\d{1,18}")) {
                tell(shard, Instant.ofEpochMilli(Long.parseLong(due)));
            }
        }

        private void tell(ShardKey shard, Instant due) {
            try {
                listener.onBell(shard, due);
            } catch (RuntimeException e) {
                log.warn("The listener of the bell of {} failed", shard, e);
            }
        }
    }
}
