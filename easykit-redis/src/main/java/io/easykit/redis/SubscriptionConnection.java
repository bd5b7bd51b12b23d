package io.easykit.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One connection with its subscriptions. It reports its end instead of connecting again, so that its owner decides when the next
 * attempt is. Each wait for Redis has a limit, unlike in {@code RedisMessageListenerContainer} of Spring Data, which waits for
 * ever for a later subscription that is refused, or whose connection is lost. Drivers whose subscriptions block their thread, such
 * as Jedis, get a thread for that. Listeners are called on the thread that receives.
 *
 * <p>Its methods are for one thread.
 */
public final class SubscriptionConnection {

    private static final Logger log = LoggerFactory.getLogger(SubscriptionConnection.class);

    private static final Duration CONFIRMATION = Duration.ofSeconds(2);
    private static final Duration END = Duration.ofSeconds(1);

    private final RedisConnectionFactory connections;
    private final String threadName;
    private final BiConsumer<SubscriptionConnection, Throwable> onLost;

    private final Map<String, Channel> channels = new ConcurrentHashMap<>();
    private volatile @Nullable RedisConnection connection;
    private @Nullable Thread blocked;
    private volatile boolean closed;

    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private final Object lock = new Object();
    // Guarded by the lock: later the connection may be in use by others.
    private boolean ended;

    /** The listeners of a channel, and whether the server has confirmed it. */
    private static final class Channel {
        final List<MessageListener> listeners = new CopyOnWriteArrayList<>();
        final CompletableFuture<Void> confirmation = new CompletableFuture<>();
    }

    /**
     * Connects nothing yet.
     *
     * @param threadName of the thread that a blocking subscription gets
     * @param onLost called when a driver that does not connect again has lost the connection, on a thread that must not wait
     */
    public SubscriptionConnection(
            RedisConnectionFactory connections,
            String threadName,
            BiConsumer<SubscriptionConnection, Throwable> onLost) {
        this.connections = connections;
        this.threadName = threadName;
        this.onLost = onLost;
    }

    /** Whether {@link #close} leaves no thread behind if the server is silent. */
    public static boolean leavesNoThread(RedisConnectionFactory connections) {
        return connections instanceof LettuceConnectionFactory
                || (connections instanceof JedisConnectionFactory jedis && DedicatedJedis.canCut(jedis));
    }

    /**
     * Subscribes, and waits until the server has confirmed each channel. After a failure the connection is only good for
     * {@link #close}.
     *
     * @param listener gets the confirmations as well, if it is a {@link SubscriptionListener}, and those of a driver that has
     *     connected again
     * @throws RedisConnectionFailureException if the connection is lost, or a confirmation does not come within two seconds
     */
    public void subscribe(MessageListener listener, Collection<String> names) {
        List<String> unknown =
                names.stream().filter(name -> !channels.containsKey(name)).toList();
        names.forEach(name -> listen(listener, name));
        if (!unknown.isEmpty()) {
            send(bytes(unknown));
        }
        awaitConfirmations(names);
    }

    private void listen(MessageListener listener, String name) {
        Channel channel = channels.computeIfAbsent(name, absent -> new Channel());
        channel.listeners.add(listener);
        if (channel.confirmation.isDone() && listener instanceof SubscriptionListener confirmed) {
            confirmed.onChannelSubscribed(bytes(name), channels.size());
        }
    }

    private void send(byte[][] names) {
        RedisConnection present = connection;
        if (present != null) {
            Subscription subscription = present.getSubscription();
            if (subscription == null) {
                throw new RedisConnectionFailureException("The subscriptions have ended");
            }
            subscription.subscribe(names);
            return;
        }
        RedisConnection opened = connections.getConnection();
        connection = opened;
        if (connections instanceof LettuceConnectionFactory) {
            opened.subscribe(new Dispatcher(), names);
            return;
        }
        Thread thread = DetachedThread.of(threadName, () -> block(opened, names));
        thread.start();
        blocked = thread;
    }

    /** Returns when the subscriptions end, or at once with a driver that does not block, such as Lettuce behind another class. */
    private void block(RedisConnection opened, byte[][] names) {
        Throwable cause = new RedisConnectionFailureException("The subscriptions have ended");
        try {
            opened.subscribe(new Dispatcher(), names);
            if (opened.isSubscribed()) {
                return;
            }
        } catch (Throwable e) {
            cause = e;
        }
        synchronized (lock) {
            ended = true;
        }
        quietly(() -> discard(opened));
        for (Channel channel : channels.values()) {
            channel.confirmation.completeExceptionally(cause);
        }
        end.complete(null);
        if (!closed) {
            onLost.accept(this, cause);
        }
    }

    private void awaitConfirmations(Collection<String> names) {
        CompletableFuture<?>[] confirmations = names.stream()
                .map(name -> Objects.requireNonNull(channels.get(name)).confirmation)
                .toArray(CompletableFuture<?>[]::new);
        try {
            CompletableFuture.allOf(confirmations).get(CONFIRMATION.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new RedisConnectionFailureException(
                    "Redis has not confirmed a subscription within " + CONFIRMATION, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RedisConnectionFailureException("Interrupted while a subscription was not confirmed", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : new CompletionException(e.getCause());
        }
    }

    /** Ends the subscriptions of the listener to channels that no other one has. Other channels must remain. */
    public void unsubscribe(MessageListener listener) {
        List<String> unused = new ArrayList<>();
        channels.forEach((name, channel) -> {
            if (channel.listeners.remove(listener) && channel.listeners.isEmpty()) {
                unused.add(name);
            }
        });
        for (String name : unused) {
            channels.remove(name);
            if (listener instanceof SubscriptionListener confirmed) {
                confirmed.onChannelUnsubscribed(bytes(name), channels.size());
            }
        }
        RedisConnection present = connection;
        Subscription subscription = present == null ? null : present.getSubscription();
        if (subscription != null && !unused.isEmpty()) {
            subscription.unsubscribe(bytes(unused));
        }
    }

    /** Ends the connection. Waits at most a second for a thread that is blocked in it. */
    public void close() {
        closed = true;
        RedisConnection present = connection;
        if (present == null) {
            return;
        }
        Thread thread = blocked;
        if (thread == null) {
            endSubscriptions(present);
            quietly(present::close);
            return;
        }
        synchronized (lock) {
            if (!ended && !isCut(present)) {
                endSubscriptions(present);
            }
            if (!ended && !thread.isAlive()) {
                quietly(present::close);
                return;
            }
        }
        end.completeOnTimeout(null, END.toMillis(), TimeUnit.MILLISECONDS).join();
    }

    private boolean isCut(RedisConnection present) {
        return connections instanceof JedisConnectionFactory && DedicatedJedis.cut(present);
    }

    /**
     * It may still be subscribed, or have the reply of an {@code UNSUBSCRIBE}, which the next command would read. In a cluster the
     * driver has taken it back, and may have lent it again: a close would send an {@code UNSUBSCRIBE} to its next user.
     */
    private void discard(RedisConnection opened) {
        if (connections instanceof JedisConnectionFactory) {
            DedicatedJedis.discard(opened);
        } else {
            opened.close();
        }
    }

    private static void endSubscriptions(RedisConnection connection) {
        Subscription present = connection.getSubscription();
        if (present != null) {
            quietly(present::close);
        }
    }

    private static void quietly(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            log.debug("The end of a subscription failed", RedisReply.safe(e));
        }
    }

    private static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[][] bytes(Collection<String> names) {
        return names.stream().map(SubscriptionConnection::bytes).toArray(byte[][]::new);
    }

    /** Hands what the driver receives to the listeners of the channel. */
    private final class Dispatcher implements MessageListener, SubscriptionListener {

        @Override
        public void onMessage(Message message, byte @Nullable [] pattern) {
            Channel channel = channelOf(message.getChannel());
            if (channel != null) {
                channel.listeners.forEach(listener -> safely(() -> listener.onMessage(message, null)));
            }
        }

        @Override
        public void onChannelSubscribed(byte[] name, long count) {
            Channel channel = channelOf(name);
            if (channel != null) {
                eachOf(channel, listener -> listener.onChannelSubscribed(name, count));
                channel.confirmation.complete(null);
            }
            RedisConnection present = connection;
            if (closed && present != null) {
                endSubscriptions(present); // closed before this driver knew of a subscription
            }
        }

        @Override
        public void onChannelUnsubscribed(byte[] name, long count) {
            Channel channel = channelOf(name);
            if (channel != null) {
                eachOf(channel, listener -> listener.onChannelUnsubscribed(name, count));
            }
        }

        private @Nullable Channel channelOf(byte[] name) {
            return channels.get(new String(name, StandardCharsets.UTF_8));
        }

        private void eachOf(Channel channel, Consumer<SubscriptionListener> call) {
            for (MessageListener listener : channel.listeners) {
                if (listener instanceof SubscriptionListener confirmed) {
                    safely(() -> call.accept(confirmed));
                }
            }
        }

        private void safely(Runnable call) {
            try {
                call.run();
            } catch (RuntimeException e) {
                log.debug("A listener of a subscription failed", e);
            }
        }
    }
}
