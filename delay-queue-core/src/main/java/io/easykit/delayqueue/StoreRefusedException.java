package io.easykit.delayqueue;

import org.jspecify.annotations.Nullable;

/**
 * The store answered with an error that a repetition will not resolve, such as a missing permission. {@link StoreFullException} if it
 * has no memory left.
 */
public sealed class StoreRefusedException extends DelayQueueException permits StoreFullException {

    private static final long serialVersionUID = 1L;

    /** @param cause failure of the driver; null if the store itself refuses */
    public StoreRefusedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
