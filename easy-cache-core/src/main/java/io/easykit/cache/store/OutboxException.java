package io.easykit.cache.store;

import io.easykit.cache.EasyCacheException;
import org.jspecify.annotations.Nullable;

/** An operation of the outbox failed in its database. */
public final class OutboxException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    public OutboxException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
