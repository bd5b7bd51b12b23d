package io.easykit.cache.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
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
 * they wait for an answer, not longer than their command timeout.
 */
final class LettuceCommands implements RedisCommands {

    private final LettuceConnectionFactory factory;
    private final AtomicReference<@Nullable CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>>> connection =
            new AtomicReference<>();

    LettuceCommands(LettuceConnectionFactory factory) {
        this.factory = factory;
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
    public void reconnect() {
        connection.set(null);
    }

    private static ScriptOutputType typeOf(RedisScript script) {
        return script == RedisScript.FETCH ? ScriptOutputType.MULTI : ScriptOutputType.INTEGER;
    }

    private <T> CompletionStage<T> with(
            Function<RedisClusterAsyncCommands<byte[], byte[]>, CompletionStage<T>> command) {
        CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> present = connection.get();
        if (present == null || present.isCompletedExceptionally()) {
            present = connect(present);
        }
        return present.isDone() ? command.apply(present.join()) : present.thenCompose(command);
    }

    private CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> connect(
            @Nullable CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> failed) {
        CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> attempt = new CompletableFuture<>();
        if (!connection.compareAndSet(failed, attempt)) {
            CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> other = connection.get();
            return other != null ? other : connect(null);
        }
        Thread thread = new Thread(() -> complete(attempt), "easy-cache-connect");
        thread.setDaemon(true);
        thread.start();
        return attempt;
    }

    private void complete(CompletableFuture<RedisClusterAsyncCommands<byte[], byte[]>> attempt) {
        try (RedisConnection wrapper = factory.getConnection()) {
            attempt.complete(((LettuceConnection) wrapper).getNativeConnection());
        } catch (RuntimeException | Error failure) {
            attempt.completeExceptionally(failure);
        }
    }
}
