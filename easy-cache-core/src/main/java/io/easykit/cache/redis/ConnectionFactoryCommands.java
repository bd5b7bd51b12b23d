package io.easykit.cache.redis;

import io.easykit.redis.DedicatedJedis;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;

/** Uses any client that Spring Data supports, one command at a time on the caller's thread. */
final class ConnectionFactoryCommands implements RedisCommands {

    private final RedisConnectionFactory factory;

    ConnectionFactoryCommands(RedisConnectionFactory factory) {
        this.factory = factory;
    }

    @Override
    public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
        return with(redis -> redis.hashCommands().hGetAll(key));
    }

    @Override
    public CompletionStage<Object> runBySha(RedisScript script, byte[] key, List<byte[]> arguments) {
        return with(redis ->
                redis.scriptingCommands().evalSha(script.sha(), typeOf(script), 1, keyAndArguments(key, arguments)));
    }

    @Override
    public CompletionStage<Object> runByText(RedisScript script, byte[] key, List<byte[]> arguments) {
        return with(redis -> redis.scriptingCommands()
                .eval(RedisEntryStore.bytes(script.text()), typeOf(script), 1, keyAndArguments(key, arguments)));
    }

    @Override
    public CompletionStage<?> load(RedisScript script) {
        return with(redis -> redis.scriptingCommands().scriptLoad(RedisEntryStore.bytes(script.text())));
    }

    @Override
    public CompletionStage<Long> time() {
        return with(redis -> redis.serverCommands().time());
    }

    private static ReturnType typeOf(RedisScript script) {
        return script.returnsList() ? ReturnType.MULTI : ReturnType.INTEGER;
    }

    private static byte[][] keyAndArguments(byte[] key, List<byte[]> arguments) {
        byte[][] all = new byte[1 + arguments.size()][];
        all[0] = key;
        for (int i = 0; i < arguments.size(); i++) {
            all[i + 1] = arguments.get(i);
        }
        return all;
    }

    private <T> CompletionStage<T> with(Function<RedisConnection, T> command) {
        try (RedisConnection redis = factory.getConnection()) {
            return CompletableFuture.completedFuture(Objects.requireNonNull(command.apply(redis)));
        } catch (RuntimeException failure) {
            if (factory instanceof DedicatedJedis jedis) {
                jedis.failed(failure);
            }
            return CompletableFuture.failedFuture(failure);
        }
    }
}
