package io.easykit.redis;

import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** How long a command may wait for its reply. */
final class ReplyTimeout extends TimeoutOptions.TimeoutSource {

    private final Duration commandTimeout;

    ReplyTimeout(Duration commandTimeout) {
        this.commandTimeout = commandTimeout;
    }

    @Override
    public long getTimeout(RedisCommand<?, ?, ?> command) {
        return commandTimeout.plus(WaitCommand.waitOf(command)).toNanos();
    }

    @Override
    public TimeUnit getTimeUnit() {
        return TimeUnit.NANOSECONDS;
    }
}
