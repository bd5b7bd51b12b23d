package io.easykit.redis;

import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The one connection of a Lettuce factory: makes it on a separate thread, repeats failed attempts while it is wanted, and makes
 * another one after it was dropped. {@link LettuceConnector} describes the rules.
 */
final class SharedConnection {

    static final Duration SLOW_CONNECT = Duration.ofMillis(500);

    /** Time after the last call during which failed attempts are repeated. */
    static final Duration WANTED = Duration.ofSeconds(5);

    /** Time between two attempts to connect while connections are refused. */
    private static final Duration CONNECT_PAUSE = Duration.ofMillis(50);

    /** Time between two attempts to connect while no caller waits for a connection. */
    private static final Duration REPEAT_PAUSE = Duration.ofMillis(200);

    /** How often to connect until Lettuce tells why it cannot. */
    private static final int ATTEMPTS_FOR_A_REASON = 3;

    /** What Lettuce says if a connection was closed before it has looked at the reply of the server. */
    private static final Set<String> NO_REASONS =
            Set.of("Connection closed prematurely", "RedisHandshakeHandler not registered");

    private final LettuceConnectionFactory factory;
    private final AtomicReference<@Nullable Attempt> connection = new AtomicReference<>();
    private final List<Runnable> replacementActions = new CopyOnWriteArrayList<>();
    private final List<Consumer<SocketAddress>> reconnectActions = new CopyOnWriteArrayList<>();
    private final Reconnects reconnects = new Reconnects();
    private volatile long wantedAt;
    private volatile boolean replace;
    private volatile boolean everConnected;

    SharedConnection(LettuceConnectionFactory factory) {
        this.factory = factory;
    }

    void onReplacement(Runnable action) {
        replacementActions.add(action);
    }

    void onReconnect(Consumer<SocketAddress> action) {
        reconnectActions.add(action);
    }

    void reconnected(SocketAddress address) {
        reconnectActions.forEach(action -> action.accept(address));
    }

    boolean wasEverConnected() {
        return everConnected;
    }

    /** Whether there is a connection, which may have been lost since. */
    boolean isConnected() {
        Attempt present = connection.get();
        return present != null && present.isConnected();
    }

    /** Whether there is a connection that the factory has not closed. */
    boolean isOpen() {
        Attempt present = connection.get();
        return present != null && present.isConnected() && !present.isOver();
    }

    /** Keeps attempts to connect going for some time after this one. */
    void want(long now) {
        wantedAt = now;
    }

    /** Returns the present connection, or the attempt to make one, which it begins if there is none. */
    Attempt get() {
        Attempt present = connection.get();
        return present == null || present.isOver() ? connect(present) : present;
    }

    /** Drops the present connection. The next call of {@link #get} opens another one. Returns whether there was one. */
    boolean drop() {
        Attempt present = connection.get();
        if (present == null || !present.isDone()) {
            return false;
        }
        // Before the exchange, because another thread may connect right after it. If the exchange fails, the connection
        // was over anyway, and to replace its successor once more costs nothing.
        replace = true;
        if (!connection.compareAndSet(present, null)) {
            return false;
        }
        replaced();
        return true;
    }

    /** Runs the actions after a replacement, of all or of one server of a cluster. */
    void replaced() {
        replacementActions.forEach(Runnable::run);
    }

    private Attempt connect(@Nullable Attempt over) {
        Attempt attempt = new Attempt(factory);
        if (!connection.compareAndSet(over, attempt)) {
            Attempt other = connection.get();
            return other != null ? other : connect(null);
        }
        try {
            // Without the InheritableThreadLocals of the caller: the thread outlives the call.
            DetachedThread.of("easykit-redis-connect", () -> connectWhileWanted(attempt))
                    .start();
        } catch (Throwable noThread) {
            attempt.end(noThread);
        }
        return attempt;
    }

    private void connectWhileWanted(Attempt first) {
        for (Attempt attempt = first; attempt != null; attempt = repeated(attempt)) {
            complete(attempt);
        }
    }

    /**
     * Returns the next attempt; null if the last one succeeded, if another thread has started one, or if no connection
     * is wanted.
     */
    private @Nullable Attempt repeated(Attempt last) {
        if (last.isConnected()) {
            return null;
        }
        try {
            Thread.sleep(REPEAT_PAUSE.toMillis());
        } catch (InterruptedException stop) {
            return null;
        }
        boolean wanted = factory.isRunning() && System.nanoTime() - wantedAt < WANTED.toNanos();
        Attempt next = new Attempt(factory);
        return wanted && connection.compareAndSet(last, next) ? next : null;
    }

    private void complete(Attempt attempt) {
        try (RedisConnection wrapper = freshConnection()) {
            AbstractRedisClient client = factory.getRequiredNativeClient();
            client.removeListener(reconnects);
            client.addListener(reconnects);
            attempt.complete(((LettuceConnection) wrapper).getNativeConnection());
            everConnected = true;
        } catch (Throwable failure) {
            attempt.end(failure);
        }
    }

    private RedisConnection freshConnection() {
        if (replace) {
            replace = false;
            factory.resetConnection();
        }
        long began = System.nanoTime();
        RedisConnection fresh = connected();
        boolean another = everConnected
                && System.nanoTime() - began >= SLOW_CONNECT.toNanos()
                && !(factory.getNativeClient() instanceof RedisClusterClient);
        return another ? anotherConnection(fresh) : fresh;
    }

    /**
     * Connects once more if the failure does not name its reason. Lettuce closes a connection at once that the server refuses, for
     * example because of a wrong password, and two of its threads race: the one that waits for the connection may learn only
     * that it is closed. An outage is logged once, so its line must name the reason.
     */
    private RedisConnection connected() {
        for (int attempt = 1; ; attempt++) {
            try {
                return factory.getConnection();
            } catch (RedisConnectionFailureException failure) {
                if (attempt == ATTEMPTS_FOR_A_REASON || namesReason(failure)) {
                    throw failure;
                }
            }
        }
    }

    private static boolean namesReason(RedisConnectionFailureException failure) {
        Throwable root = failure.getMostSpecificCause();
        return root.getMessage() == null || !NO_REASONS.contains(root.getMessage());
    }

    /**
     * The slow server may be a former master that hung while another one was promoted. A server that has just answered
     * is not slow for that reason.
     */
    private RedisConnection anotherConnection(RedisConnection slow) {
        slow.close();
        factory.resetConnection();
        return factory.getConnection();
    }

    /** An attempt to connect, and the connection it made. */
    static final class Attempt extends CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> {

        private final LettuceConnectionFactory factory;
        private final long began = System.nanoTime();
        private volatile boolean factoryWasStopped;

        /** Set before the failure, which needs memory: an attempt without a result must not stay the present one for ever. */
        private volatile boolean ended;

        private Attempt(LettuceConnectionFactory factory) {
            this.factory = factory;
        }

        boolean isConnected() {
            return isDone() && !isCompletedExceptionally();
        }

        private void end(Throwable failure) {
            ended = true;
            Throwable reason = failure;
            try {
                factoryWasStopped = !factory.isRunning();
                if (!(failure instanceof Error)) {
                    reason = new NotConnectedException("No connection to Redis: " + failure.getMessage(), failure);
                }
            } catch (Throwable noDescription) {
                // Callers get the failure itself.
            }
            completeExceptionally(reason);
        }

        /** Whether connecting failed, or the factory has closed the connection, for example because it was stopped. */
        private boolean isOver() {
            if (!isDone()) {
                return ended;
            }
            if (isCompletedExceptionally()) {
                boolean startedSince = factoryWasStopped && factory.isRunning();
                return startedSince || System.nanoTime() - began >= CONNECT_PAUSE.toNanos();
            }
            return join() instanceof AbstractRedisAsyncCommands<?, ?> redis
                    && redis.getConnection() instanceof RedisChannelHandler<?, ?> handler
                    && handler.isClosed();
        }
    }

    /** Registered together with the first connection, so it is called for later ones only. */
    private final class Reconnects implements RedisConnectionStateListener {

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> made, SocketAddress address) {
            // Spring's connections use a byte array codec. Connections to sentinels and for the topology use text. A
            // subscription runs no command.
            if (made instanceof StatefulRedisConnectionImpl<?, ?> commands
                    && !(made instanceof StatefulRedisPubSubConnection<?, ?>)
                    && commands.getCodec() instanceof ByteArrayCodec) {
                reconnected(address);
            }
        }
    }
}
