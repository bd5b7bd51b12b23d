package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/** The root of what the delay queue throws. */
public abstract class DelayQueueException extends RuntimeException {

    protected DelayQueueException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
