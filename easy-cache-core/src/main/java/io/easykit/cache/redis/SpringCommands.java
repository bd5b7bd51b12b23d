package io.easykit.cache.redis;

import io.easykit.redis.ScriptExecutor;
import io.easykit.redis.SpringCalls;
import java.net.SocketAddress;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Uses any client that Spring Data supports, one command at a time on the caller's thread. */
final class SpringCommands implements RedisCommands {

    private final SpringCalls calls;

    SpringCommands(RedisConnectionFactory factory) {
        this.calls = new SpringCalls(factory);
    }

    @Override
    public ScriptExecutor scripts() {
        return calls;
    }

    /** False in a cluster, although that is one unit here because its masters are not known. */
    @Override
    public boolean hasOneClock() {
        return !calls.isOfCluster();
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        calls.onReconnect(() -> action.accept(null));
    }

    @Override
    public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
        return calls.call(redis -> redis.hashCommands().hGetAll(key));
    }

    @Override
    public CompletionStage<Long> time() {
        return calls.call(redis -> redis.serverCommands().time());
    }

    @Override
    public void publish(String channel, byte[] message) {
        CompletionStage<Long> unused = calls.call(redis -> redis.publish(EntryFields.bytes(channel), message));
    }
}
