package io.easykit.delayqueue;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the messages that were handled, so that a handler runs once for each of them although a message may be delivered
 * more than once.
 */
@FunctionalInterface
public interface IdempotencyStore {

    /**
     * Runs a handler and records its message, both in one transaction, or does nothing if the message is recorded already. An
     * exception of the handler undoes the record, and reaches the caller. If another call with the same message is still
     * running, this one waits for its end or throws.
     *
     * <p>An exception before the call of the handler counts as one of the store: the message is released, and delivered again after
     * a delay. That costs no attempt, and no error handler is called. An exception after the handler has returned costs an attempt,
     * unless it is an {@link UnavailableException}.
     *
     * @param topic of the message
     * @param uniqueId identifies the message in all its deliveries: see {@link DelayMessage#uniqueId}
     * @return whether the handler has run; the record is stored for good then
     * @throws Exception that of the handler, or of the store
     */
    boolean runOnce(String topic, String uniqueId, Work handler) throws Exception;

    /** Minimum time for which a record is kept, or null if it is never removed. */
    default @Nullable Duration retention() {
        return null;
    }

    /** The store has failed after the handler has returned, and the handler is not the reason. The transaction is rolled back. */
    final class UnavailableException extends DelayQueueException {

        private static final long serialVersionUID = 1L;

        public UnavailableException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** The call of a handler. */
    @FunctionalInterface
    interface Work {

        void run() throws Exception;
    }
}
