package io.easykit.redis;

import io.lettuce.core.RedisException;
import org.jspecify.annotations.Nullable;

/** There was no connection, so the command was not sent. */
public final class NotConnectedException extends RedisException {

    public NotConnectedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
