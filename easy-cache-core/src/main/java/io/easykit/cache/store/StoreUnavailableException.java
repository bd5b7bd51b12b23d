package io.easykit.cache.store;

import io.easykit.cache.CacheUnavailableException;
import io.easykit.cache.EasyCacheException;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EntryStore} could not answer. Callers of the cache never see it: they get the method's value.
 *
 * @see CacheUnavailableException the exception for callers of a CP cache
 */
public final class StoreUnavailableException extends EasyCacheException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    private enum Reason {
        SERVER,
        UNANSWERED,
        COMMAND_REFUSED,
        DELAYED,
        NOT_CALLED,
        OTHER
    }

    /**
     * @param serverFailure whether the server is the reason (lost, slow, loading, read-only …), and not this one command
     */
    public StoreUnavailableException(String message, boolean serverFailure, @Nullable Throwable cause) {
        this(message, serverFailure ? Reason.SERVER : Reason.OTHER, cause);
    }

    private StoreUnavailableException(String message, Reason reason, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** There was no reply: none in time, or none at all because the connection was lost or could not be made. */
    public static StoreUnavailableException unanswered(String message, @Nullable Throwable cause) {
        return new StoreUnavailableException(message, Reason.UNANSWERED, cause);
    }

    /** The server refuses a command to this client: by an ACL, because it was renamed, or without a password. */
    public static StoreUnavailableException refused(String message, Throwable cause) {
        return new StoreUnavailableException(message, Reason.COMMAND_REFUSED, cause);
    }

    /** No reply in time, while large values were on their way over the same connection. The server need not have a failure. */
    public static StoreUnavailableException delayed(String message, @Nullable Throwable cause) {
        return new StoreUnavailableException(message, Reason.DELAYED, cause);
    }

    private StoreUnavailableException(String message) {
        super(message);
        this.reason = Reason.NOT_CALLED;
    }

    /**
     * A call that was not made, for example because the circuit breaker is open. Without a stack trace, which would cost more than the
     * rest of the call.
     */
    public static StoreUnavailableException notCalled(String message) {
        return new StoreUnavailableException(message);
    }

    public boolean isServerFailure() {
        return reason == Reason.SERVER || reason == Reason.UNANSWERED;
    }

    /** Whether the call got no reply, or could not be sent. The next one may wait as long. */
    public boolean isUnanswered() {
        return reason == Reason.UNANSWERED || reason == Reason.DELAYED;
    }

    /** Whether the server refuses a command that the cache needs, so that no other call can succeed. */
    public boolean isRefused() {
        return reason == Reason.COMMAND_REFUSED;
    }

    /** Whether the call waited behind large values. */
    public boolean isDelayed() {
        return reason == Reason.DELAYED;
    }

    /** Whether the failure concerns the key of the call only, for example because an ACL refuses it. Calls with other keys succeed. */
    public boolean isOfSingleKey() {
        return reason == Reason.OTHER && !(getCause() instanceof InterruptedException);
    }
}
