package io.easykit.redis;

import io.easykit.redis.ReplicatedWrites.Replicated;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Runs scripts whose reply is bytes, and waits until replicas have their writes. See {@link ReplicatedWrites}. */
public final class ReplicatedScripts implements AutoCloseable {

    private final ReplicatedWrites writes;

    /**
     * @param original whose servers, credentials and command timeout are used. Its connections are not
     * @param firstConnectionTimeout how long callers wait for the first connection
     */
    public ReplicatedScripts(LettuceConnectionFactory original, Duration firstConnectionTimeout) {
        this.writes = new ReplicatedWrites(original, firstConnectionTimeout);
    }

    /**
     * Runs a script by its SHA and, if Redis does not have it, by its text.
     *
     * @param replicas how many replicas to wait for, at least 1
     * @param timeout how long to wait for the replicas
     * @throws RedisException as {@link ReplicatedWrites#await}
     */
    public Replicated<byte @Nullable []> await(
            LuaScript script, byte[][] keys, byte[][] arguments, int replicas, Duration timeout) {
        return await(script, keys, arguments, replicas, timeout, CallerWait.INTERRUPTIBLE);
    }

    /** As {@link #await}, but an interrupt during the call does not end the wait. The thread remains interrupted. */
    public Replicated<byte @Nullable []> awaitUninterruptibly(
            LuaScript script, byte[][] keys, byte[][] arguments, int replicas, Duration timeout) {
        return await(script, keys, arguments, replicas, timeout, CallerWait.UNINTERRUPTIBLE);
    }

    private Replicated<byte @Nullable []> await(
            LuaScript script, byte[][] keys, byte[][] arguments, int replicas, Duration timeout, CallerWait wait) {
        try {
            return writes.await(
                    keys[0],
                    () -> command(CommandType.EVALSHA, script.sha(), keys, arguments),
                    replicas,
                    timeout,
                    wait);
        } catch (RedisException failure) {
            if (!ErrorReply.isUnknownScript(failure)) {
                throw failure;
            }
            return writes.await(
                    keys[0], () -> command(CommandType.EVAL, script.text(), keys, arguments), replicas, timeout, wait);
        }
    }

    private static Command<byte[], byte[], byte @Nullable []> command(
            CommandType type, String script, byte[][] keys, byte[][] arguments) {
        CommandArgs<byte[], byte[]> all = new CommandArgs<>(ByteArrayCodec.INSTANCE)
                .add(script)
                .add(keys.length)
                .addKeys(keys)
                .addValues(arguments);
        return new Command<>(type, new ValueOutput<>(ByteArrayCodec.INSTANCE), all);
    }

    @Override
    public void close() {
        writes.close();
    }
}
