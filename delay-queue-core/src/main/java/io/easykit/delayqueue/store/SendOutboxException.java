package io.easykit.delayqueue.store;

import io.easykit.delayqueue.DelayQueueException;
import org.jspecify.annotations.Nullable;

/** An operation of the outbox failed. From a send: nothing was written, and the message names the remedy. */
public final class SendOutboxException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    public SendOutboxException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
