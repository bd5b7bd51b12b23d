package io.easykit.cache.redis;

import io.easykit.redis.ClusterMaster;
import io.easykit.redis.DedicatedConnections;
import io.easykit.redis.LettuceConnector;
import io.easykit.redis.LettuceScripts;
import io.easykit.redis.ScriptExecutor;
import io.easykit.redis.Transfers;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Sends commands over the factory's one shared connection. The {@link LettuceConnector} keeps that connection. */
final class LettuceCommands implements RedisCommands {

    private static final byte[] ANY_KEY = {};

    private final LettuceConnectionFactory factory;
    private final Duration commandTimeout;
    private final LettuceConnector connector;
    private final LettuceScripts scripts;
    private final Transfers transfers;
    private final SlowStart slowStart = new SlowStart();

    LettuceCommands(LettuceConnectionFactory factory, Duration commandTimeout) {
        this.factory = factory;
        this.commandTimeout = commandTimeout;
        this.connector = new LettuceConnector(factory, commandTimeout, () -> slowStart.limit(commandTimeout));
        this.scripts = new LettuceScripts(connector);
        this.transfers = Transfers.of(factory);
    }

    @Override
    public ScriptExecutor scripts() {
        return scripts;
    }

    @Override
    public CompletionStage<Map<byte[], byte[]>> readAll(byte[] key) {
        return connector.call(key, redis -> redis.hgetall(key));
    }

    @Override
    public CompletionStage<Long> time() {
        return connector.call(ANY_KEY, RedisClusterAsyncCommands::time).thenApply(LettuceCommands::toMillis);
    }

    @Override
    public void publish(String channel, byte[] message) {
        byte[] to = EntryFields.bytes(channel);
        CompletionStage<Long> unused = connector.call(to, redis -> redis.publish(to, message));
    }

    @Override
    public void allowSlowStart(Duration most) {
        slowStart.allow(most);
    }

    @Override
    public Duration limit(Duration timeout) {
        return slowStart.limit(timeout);
    }

    @Override
    public void replied() {
        slowStart.replied();
    }

    @Override
    public boolean isDelayed(Duration wait) {
        return transfers.explain(wait);
    }

    @Override
    public boolean isCluster() {
        return factory.isClusterAware();
    }

    @Override
    public List<ClusterMaster> masters() {
        return connector.masters();
    }

    @Override
    public void onReconnect(Consumer<@Nullable SocketAddress> action) {
        connector.onReconnect(action);
    }

    @Override
    public void unanswered(byte[] key, long sent) {
        connector.unanswered(key, sent);
    }

    @Override
    public RedisCommands reopened() {
        if (factory.isRunning()) {
            return this;
        }
        LettuceConnectionFactory fresh = DedicatedConnections.independentCopyOf(factory, commandTimeout);
        fresh.afterPropertiesSet();
        return new LettuceCommands(fresh, commandTimeout);
    }

    @Override
    public void close() {
        factory.destroy();
    }

    /** The reply of {@code TIME} is seconds and microseconds, as texts. */
    private static long toMillis(List<byte[]> reply) {
        return number(reply.get(0)) * 1000 + number(reply.get(1)) / 1000;
    }

    private static long number(byte[] text) {
        return Long.parseLong(new String(text, StandardCharsets.US_ASCII));
    }
}
