package io.easykit.delayqueue.listener;

import io.easykit.delayqueue.DelayQueueException;
import org.jspecify.annotations.Nullable;

/**
 * A message lacks a header that its listener requires, or has a value that cannot be converted. Counts as a failed run:
 * during a rolling deploy a node of another version may be able to handle the message.
 */
public final class InvalidHeaderException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    InvalidHeaderException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
