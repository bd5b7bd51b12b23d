package io.easykit.cache.redis;

import io.easykit.redis.DedicatedConnections;
import io.lettuce.core.AbstractRedisAsyncCommands;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Talks to Lettuce itself, over the factory's one shared connection.
 *
 * <p>Connecting may block for as long as a network likes, so it happens on a thread of its own; callers wait for it as
 * they wait for an answer, not longer than their command timeout. What nobody waits for any more when the connection
 * stands is not sent: an update that was refused long ago must not be announced then.
 */
final class LettuceCommands implements RedisCommands {

    private final LettuceConnectionFactory factory;
    private final long timeoutNanos;
    private final AtomicReference<@Nullable CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>>> connection =
            new AtomicReference<>();

    private final List<Runnable> reconnectActions = new CopyOnWriteArrayList<>();
    private final Reconnects reconnects = new Reconnects();
    private volatile boolean leaving;

    LettuceCommands(LettuceConnectionFactory factory, Duration commandTimeout) {
        this.factory = factory;
        this.timeoutNanos = commandTimeout.toNanos();
    }

    @Override
    public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
        return with(redis -> redis.hgetall(key));
    }

    @Override
    public CompletionStage<Object> runBySha(RedisScript script, byte[] key, List<byte[]> arguments) {
        return with(redis ->
                redis.evalsha(script.sha(), typeOf(script), new byte[][] {key}, arguments.toArray(byte[][]::new)));
    }

    @Override
    public CompletionStage<Object> runByText(RedisScript script, byte[] key, List<byte[]> arguments) {
        return with(redis ->
                redis.eval(script.text(), typeOf(script), new byte[][] {key}, arguments.toArray(byte[][]::new)));
    }

    @Override
    public CompletionStage<?> load(RedisScript script) {
        return with(redis -> redis.scriptLoad(script.text()));
    }

    @Override
    public CompletionStage<Long> time() {
        return with(RedisClusterAsyncCommands::time).thenApply(RedisTime::toMillis);
    }

    @Override
    public void onReconnect(Runnable action) {
        reconnectActions.add(action);
    }

    @Override
    public RedisCommands reopened() {
        if (factory.isRunning()) {
            return this;
        }
        LettuceConnectionFactory fresh =
                DedicatedConnections.independentCopyOf(factory, Duration.ofNanos(timeoutNanos));
        fresh.afterPropertiesSet();
        return new LettuceCommands(fresh, Duration.ofNanos(timeoutNanos));
    }

    @Override
    public void close() {
        factory.destroy();
    }

    @Override
    public void reconnect() {
        CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> present = connection.get();
        if (present != null && present.isDone() && connection.compareAndSet(present, null)) {
            leaving = true;
        }
    }

    private static ScriptOutputType typeOf(RedisScript script) {
        return script == RedisScript.FETCH ? ScriptOutputType.MULTI : ScriptOutputType.INTEGER;
    }

    private <T> CompletionStage<T> with(
            Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<T>> command) {
        CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> present = connection.get();
        if (present == null || isOver(present)) {
            present = connect(present);
        }
        if (present.isDone()) {
            return present.thenCompose(command);
        }
        long asked = System.nanoTime();
        return present.thenCompose(redis -> System.nanoTime() - asked < timeoutNanos
                ? command.apply(redis)
                : CompletableFuture.failedFuture(new TimeoutException("The caller has gone")));
    }

    /** Whether connecting failed, or the factory has closed the connection since: when it is stopped, it does. */
    private static boolean isOver(CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> present) {
        if (!present.isDone()) {
            return false;
        }
        return present.isCompletedExceptionally()
                || (present.join() instanceof AbstractRedisAsyncCommands<?, ?> redis
                        && redis.getConnection() instanceof RedisChannelHandler<?, ?> handler
                        && handler.isClosed());
    }

    private CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> connect(
            @Nullable CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> over) {
        CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> attempt = new CompletableFuture<>();
        if (!connection.compareAndSet(over, attempt)) {
            CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> other = connection.get();
            return other != null ? other : connect(null);
        }
        Thread thread = new Thread(() -> complete(attempt), "easy-cache-connect");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (OutOfMemoryError noThread) {
            attempt.completeExceptionally(noThread);
        }
        return attempt;
    }

    private void complete(CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> attempt) {
        try (RedisConnection wrapper = freshConnection()) {
            AbstractRedisClient client = factory.getRequiredNativeClient();
            client.removeListener(reconnects);
            client.addListener(reconnects);
            attempt.complete(((LettuceConnection) wrapper).getNativeConnection());
        } catch (RuntimeException | Error failure) {
            attempt.completeExceptionally(failure);
        }
    }

    private RedisConnection freshConnection() {
        if (leaving) {
            leaving = false;
            factory.resetConnection();
        }
        return factory.getConnection();
    }

    /** Listens from the first connection on, so each one that it hears of is a later one. */
    private final class Reconnects implements RedisConnectionStateListener {

        @Override
        public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress address) {
            reconnectActions.forEach(Runnable::run);
        }
    }
}
