package io.easykit.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.CommandWrapper;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** {@code WAIT}, whose reply may take its own timeout longer than those of other commands. */
final class WaitCommand extends Command<byte[], byte[], Long> {

    private final Duration timeout;

    /** @param timeout at least 1 ms: zero would wait for ever */
    WaitCommand(int replicas, Duration timeout) {
        super(
                CommandType.WAIT,
                new IntegerOutput<>(ByteArrayCodec.INSTANCE),
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add(replicas).add(Math.max(1, timeout.toMillis())));
        this.timeout = timeout;
    }

    /** How long a command waits in Redis before it replies; zero for all but {@code WAIT}. */
    static Duration waitOf(RedisCommand<?, ?, ?> command) {
        return command.getType() == CommandType.WAIT && unwrapped(command) instanceof WaitCommand wait
                ? wait.timeout
                : Duration.ZERO;
    }

    private static @Nullable Object unwrapped(RedisCommand<?, ?, ?> command) {
        return CommandWrapper.unwrap(command);
    }
}
