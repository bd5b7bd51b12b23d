package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/** Root of the exceptions of the delay queue. */
public abstract class DelayQueueException extends RuntimeException {

    protected DelayQueueException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
