package io.easykit.delayqueue;

/**
 * The store could not be reached, or did not answer in time. The call may or may not have been carried out; to repeat it
 * is safe, see {@link QueueStore}.
 */
public final class StoreUnavailableException extends DelayQueueException {

    public StoreUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
