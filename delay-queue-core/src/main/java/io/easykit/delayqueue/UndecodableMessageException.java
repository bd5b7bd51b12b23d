package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/** The bytes of a message are not an envelope that this version can read. */
public class UndecodableMessageException extends DelayQueueException {

    public UndecodableMessageException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
