package io.easykit.delayqueue;

/** The store has no memory left for a new or rescheduled message, and has stored nothing of the call. */
public final class StoreFullException extends StoreRefusedException {

    private static final long serialVersionUID = 1L;

    public StoreFullException(String message, Throwable cause) {
        super(message, cause);
    }
}
