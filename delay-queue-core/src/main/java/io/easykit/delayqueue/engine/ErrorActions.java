package io.easykit.delayqueue.engine;

import io.easykit.delayqueue.DelayMessage;
import io.easykit.delayqueue.ErrorAction;
import io.easykit.delayqueue.ErrorHandler;
import io.easykit.delayqueue.ListenerEndpoint;
import io.easykit.delayqueue.support.LogText;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides after failed runs of a listener. An error handler that throws, or returns null, changes nothing. */
final class ErrorActions {

    private static final Logger log = LoggerFactory.getLogger(ErrorActions.class);

    private final ListenerEndpoint endpoint;
    private final RepeatedLines lines;

    ErrorActions(ListenerEndpoint endpoint, RepeatedLines lines) {
        this.endpoint = endpoint;
        this.lines = lines;
    }

    /** Whether the listener has an error handler. */
    boolean isGiven() {
        return endpoint.errorHandler() != ErrorHandler.NONE;
    }

    ErrorAction decide(DelayMessage<?> message, Throwable error) {
        Throwable problem = null;
        try {
            ErrorAction action = endpoint.errorHandler().onError(message, error);
            if (action != null) {
                return action;
            }
        } catch (Throwable e) {
            problem = e;
        }
        warn(message, problem);
        return ErrorAction.byDefault();
    }

    /** Whether a message is dead at once after this exception, or after the one of a future that the method has waited for. */
    static boolean isNeverRetried(ListenerEndpoint endpoint, Throwable error) {
        Throwable thrown = unwrapped(error);
        return endpoint.notRetried().stream().anyMatch(type -> type.isInstance(error) || type.isInstance(thrown));
    }

    /** Without what {@code join} and {@code get} wrap around an exception. */
    private static Throwable unwrapped(Throwable error) {
        boolean wraps = error instanceof CompletionException || error instanceof ExecutionException;
        Throwable cause = wraps ? error.getCause() : null; // methods of other exceptions may throw
        return cause == null ? error : unwrapped(cause);
    }

    private void warn(DelayMessage<?> message, @Nullable Throwable problem) {
        lines.warn(
                log,
                endpoint.topic(),
                "The error handler of listener '{}' made no decision for message {}, so the retry policy decides: {}",
                LogText.of(endpoint.id()),
                LogText.of(message.id()),
                problem == null ? "it returned null" : ErrorText.lineOf(problem));
    }
}
