package io.easykit.redis;

import io.lettuce.core.RedisException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Calls Redis over any driver that Spring Data supports, one command at a time, while the caller waits. The timeouts are those of the
 * driver; over {@link DedicatedJedis} each call has the command timeout for all its steps ({@link BoundedCalls}).
 *
 * <p>Drivers do not report new connections. After a call that failed because of its connection or server, the next one that succeeds
 * counts as a call over a new connection.
 */
public final class SpringCalls implements ScriptExecutor {

    private final RedisConnectionFactory connections;
    private final List<Runnable> reconnectActions = new CopyOnWriteArrayList<>();

    /** Number of calls that have failed in such a way. */
    private final AtomicInteger losses = new AtomicInteger();

    /** The number of {@link #losses} after which the actions have run last. */
    private final AtomicInteger reported = new AtomicInteger();

    public SpringCalls(RedisConnectionFactory connections) {
        this.connections = connections;
    }

    /**
     * Registers an action that runs when a call has succeeded after one that failed because of its connection or server, before
     * the reply is returned. It must return at once.
     */
    public void onReconnect(Runnable action) {
        reconnectActions.add(action);
    }

    @Override
    public CompletionStage<@Nullable Object> run(
            LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
        return completed(() -> await(script, reply, keys, arguments));
    }

    @Override
    public @Nullable Object await(LuaScript script, ScriptReply reply, byte[][] keys, byte[][] arguments) {
        byte[][] all = Stream.of(keys, arguments).flatMap(Stream::of).toArray(byte[][]::new);
        try {
            return with(redis -> redis.scriptingCommands().evalSha(script.sha(), reply.ofSpring(), keys.length, all));
        } catch (DataAccessException | RedisException failure) {
            if (!ErrorReply.isUnknownScript(failure)) {
                throw failure;
            }
            return with(redis -> redis.scriptingCommands().eval(script.bytes(), reply.ofSpring(), keys.length, all));
        }
    }

    @Override
    public void load(LuaScript script) {
        with(redis -> redis.scriptingCommands().scriptLoad(script.bytes()));
    }

    @Override
    public boolean isBlocking() {
        return true;
    }

    /** Whether the connections lead to the masters of a Redis Cluster. */
    public boolean isOfCluster() {
        return connections instanceof JedisConnectionFactory jedis
                ? jedis.isRedisClusterAware()
                : connections instanceof LettuceConnectionFactory lettuce && lettuce.isClusterAware();
    }

    /** Calls a command. The stage is completed already. */
    public <T extends @Nullable Object> CompletionStage<T> call(Function<RedisConnection, T> command) {
        return completed(() -> with(command));
    }

    private static <T extends @Nullable Object> CompletionStage<T> completed(Supplier<T> call) {
        try {
            return CompletableFuture.completedFuture(call.get());
        } catch (RuntimeException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private <T extends @Nullable Object> T with(Function<RedisConnection, T> command) {
        return connections instanceof DedicatedJedis jedis
                ? jedis.bounded().call(turn -> with(command, turn::begin))
                : with(command, () -> {});
    }

    /** @param begin called with a connection, before anything is sent; may throw */
    private <T extends @Nullable Object> T with(Function<RedisConnection, T> command, Runnable begin) {
        try (RedisConnection redis = connect()) {
            begin.run();
            T reply = command.apply(redis);
            reportReconnect();
            return reply;
        } catch (RuntimeException failure) {
            ErrorReply error = ErrorReply.of(failure);
            if (error == null || error.isMendedByAnotherServer()) {
                losses.incrementAndGet();
            }
            if (connections instanceof DedicatedJedis jedis) {
                jedis.failed(failure);
            }
            throw failure;
        }
    }

    /** Several calls may do so at a time: none returns its reply before the actions have run. */
    private void reportReconnect() {
        int lost = losses.get();
        int before = reported.get();
        if (lost != before) {
            reconnectActions.forEach(Runnable::run);
            // Another call has reported as much or more if this fails.
            boolean unused = reported.compareAndSet(before, lost);
        }
    }

    private RedisConnection connect() {
        try {
            return connections.getConnection();
        } catch (DataAccessException | IllegalStateException e) {
            throw new NotConnectedException("No connection to Redis: " + e.getMessage(), e);
        }
    }
}
