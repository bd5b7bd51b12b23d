package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.OutgoingMessage.ReplicaWait;
import io.easykit.redis.DedicatedJedis;
import io.easykit.redis.LettuceConnector;
import io.easykit.redis.NotConnectedException;
import io.easykit.redis.ReplicatedWrites;
import io.easykit.redis.ReplicatedWrites.Replicated;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Sends scripts with the driver that the application uses. Failures are those of the driver, or of Spring for it. */
interface ScriptCalls {

    /** A bean may send while a cold JVM starts. */
    Duration FIRST_CONNECTION = Duration.ofSeconds(5);

    /**
     * Calls a script.
     *
     * @param bySha    false sends the whole text
     * @param keys     whose first decides the node in a cluster
     * @return a number, bytes, or a list of these with nulls
     */
    @Nullable Object call(LuaScript script, boolean bySha, Reply reply, byte[][] keys, byte[][] arguments);

    /**
     * Sends the whole text of a script to several shards at once.
     *
     * @param keys of each call
     * @return for each in order, completed within the bound of a call, or already
     */
    List<CompletableFuture<@Nullable Object>> begin(
            LuaScript script, Reply reply, List<byte[][]> keys, byte[][] arguments);

    /** Loads a script, in a cluster on all masters. */
    void load(LuaScript script);

    /**
     * Calls a script whose reply is bytes, and waits for replicas.
     *
     * @throws UnsupportedOperationException if the driver cannot; nothing is sent
     */
    default Replicated<byte @Nullable []> replicated(
            LuaScript script, boolean bySha, byte[][] keys, byte[][] arguments, ReplicaWait wait) {
        throw new UnsupportedOperationException("Waiting for replicas needs Lettuce as the driver");
    }

    /** Ends connections that are not the application's. */
    default void close() {}

    /** Runs the action when a connection was given up because its server no longer serves. */
    default void onReplacement(Runnable action) {}

    static ScriptCalls over(RedisConnectionFactory connections) {
        return connections instanceof LettuceConnectionFactory lettuce
                ? new OverLettuce(
                        new LettuceConnector(lettuce, FIRST_CONNECTION),
                        new ReplicatedWrites(lettuce, FIRST_CONNECTION))
                : new OverSpring(connections);
    }

    /** Reply type of a script. */
    enum Reply {
        LIST(ScriptOutputType.MULTI, ReturnType.MULTI),
        BYTES(ScriptOutputType.VALUE, ReturnType.VALUE),
        NUMBER(ScriptOutputType.INTEGER, ReturnType.INTEGER);

        private final ScriptOutputType ofLettuce;
        private final ReturnType ofSpring;

        Reply(ScriptOutputType ofLettuce, ReturnType ofSpring) {
            this.ofLettuce = ofLettuce;
            this.ofSpring = ofSpring;
        }
    }

    /** Lettuce itself: a call waits for a connection and a reply within the command timeout, however Redis fails. */
    record OverLettuce(LettuceConnector redis, ReplicatedWrites writes) implements ScriptCalls {

        @Override
        public @Nullable Object call(LuaScript script, boolean bySha, Reply reply, byte[][] keys, byte[][] arguments) {
            return redis.<@Nullable Object>await(
                    keys[0],
                    commands -> bySha
                            ? commands.evalsha(script.sha(), reply.ofLettuce, keys, arguments)
                            : commands.eval(script.text().array(), reply.ofLettuce, keys, arguments));
        }

        @Override
        public Replicated<byte @Nullable []> replicated(
                LuaScript script, boolean bySha, byte[][] keys, byte[][] arguments, ReplicaWait wait) {
            return writes.await(
                    keys[0], () -> command(script, bySha, keys, arguments), wait.replicas(), wait.timeout());
        }

        private static Command<byte[], byte[], byte @Nullable []> command(
                LuaScript script, boolean bySha, byte[][] keys, byte[][] arguments) {
            CommandArgs<byte[], byte[]> all = new CommandArgs<>(ByteArrayCodec.INSTANCE);
            if (bySha) {
                all.add(script.sha());
            } else {
                all.add(script.text().array());
            }
            all.add(keys.length).addKeys(keys).addValues(arguments);
            return new Command<>(
                    bySha ? CommandType.EVALSHA : CommandType.EVAL, new ValueOutput<>(ByteArrayCodec.INSTANCE), all);
        }

        @Override
        public void close() {
            writes.close();
        }

        @Override
        public List<CompletableFuture<@Nullable Object>> begin(
                LuaScript script, Reply reply, List<byte[][]> keys, byte[][] arguments) {
            return keys.stream()
                    .map(own -> redis.<@Nullable Object>call(
                                    own[0],
                                    commands -> commands.eval(script.text().array(), reply.ofLettuce, own, arguments))
                            .toCompletableFuture())
                    .toList();
        }

        @Override
        public void load(LuaScript script) {
            redis.await(
                    new byte[0], commands -> commands.scriptLoad(script.text().array()));
        }

        @Override
        public void onReplacement(Runnable action) {
            redis.onReplacement(action);
        }
    }

    /** Any driver of Spring Data, with the driver's own timeouts. */
    record OverSpring(RedisConnectionFactory connections) implements ScriptCalls {

        private static final int MOST_UNANSWERED = 2;

        @Override
        public @Nullable Object call(LuaScript script, boolean bySha, Reply reply, byte[][] keys, byte[][] arguments) {
            byte[][] all = Stream.of(keys, arguments).flatMap(Stream::of).toArray(byte[][]::new);
            try (RedisConnection connection = connect()) {
                return bySha
                        ? connection.scriptingCommands().evalSha(script.sha(), reply.ofSpring, keys.length, all)
                        : connection.scriptingCommands().eval(script.text().array(), reply.ofSpring, keys.length, all);
            } catch (DataAccessException failure) {
                if (connections instanceof DedicatedJedis jedis) {
                    jedis.failed(failure);
                }
                throw failure;
            }
        }

        /** One after the other; after two that got no answer the others are not tried. */
        @Override
        public List<CompletableFuture<@Nullable Object>> begin(
                LuaScript script, Reply reply, List<byte[][]> keys, byte[][] arguments) {
            List<CompletableFuture<@Nullable Object>> calls = new ArrayList<>();
            int unanswered = 0;
            for (byte[][] own : keys) {
                CompletableFuture<@Nullable Object> call = new CompletableFuture<>();
                calls.add(call);
                if (unanswered >= MOST_UNANSWERED) {
                    call.completeExceptionally(new NotConnectedException("Two earlier calls got no answer", null));
                    continue;
                }
                try {
                    call.complete(call(script, false, reply, own, arguments));
                } catch (DataAccessException | RedisException e) {
                    unanswered += RedisFailures.errorReply(e) == null ? 1 : 0;
                    call.completeExceptionally(e);
                }
            }
            return calls;
        }

        @Override
        public void load(LuaScript script) {
            try (RedisConnection connection = connect()) {
                connection.scriptingCommands().scriptLoad(script.text().array());
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
}
