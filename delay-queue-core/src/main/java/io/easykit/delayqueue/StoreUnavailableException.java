package io.easykit.delayqueue;

/**
 * The store could not be reached, or did not answer in time. The call may be repeated. After a send with an unknown outcome
 * ({@link #isOutcomeUnknown()}) a repetition may store a second message. An own id prevents that until the first one has ended.
 */
public final class StoreUnavailableException extends DelayQueueException {

    private static final long serialVersionUID = 1L;

    private final boolean outcomeUnknown;

    /** A call without a reply: it may or may not have been carried out. */
    public StoreUnavailableException(String message, Throwable cause) {
        this(message, cause, true);
    }

    private StoreUnavailableException(String message, Throwable cause, boolean outcomeUnknown) {
        super(message, cause);
        this.outcomeUnknown = outcomeUnknown;
    }

    /** A call that was not sent, or that the store declined: nothing has changed. */
    public static StoreUnavailableException notCarriedOut(String message, Throwable cause) {
        return new StoreUnavailableException(message, cause, false);
    }

    /** An exception with another message, and the same {@link #isOutcomeUnknown()}. */
    public StoreUnavailableException because(String message) {
        return new StoreUnavailableException(message, this, outcomeUnknown);
    }

    /**
     * True if a request was sent and got no reply, so a message may be stored or not. False if nothing was stored or changed.
     */
    public boolean isOutcomeUnknown() {
        return outcomeUnknown;
    }
}
