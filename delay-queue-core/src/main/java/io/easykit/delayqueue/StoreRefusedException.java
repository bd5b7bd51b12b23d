package io.easykit.delayqueue;

/** The store answered with an error that a repetition will not mend, such as a missing permission. */
public final class StoreRefusedException extends DelayQueueException {

    public StoreRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
