package io.easykit.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.cluster.PartitionSelectorException;
import java.net.ConnectException;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.QueryTimeoutException;

/** Classifies a failed call to which Redis did not reply. {@link ErrorReply} classifies error replies. */
public final class CallFailures {

    /** How the messages begin if a command was refused before it was sent. These exceptions of Lettuce have no type of their own. */
    private static final List<String> REFUSALS = List.of(
            "Currently not connected",
            "Master is currently unknown",
            "Request queue size exceeded",
            "Internal stack size exceeded",
            LettuceConnector.NOTHING_SENT);

    private CallFailures() {}

    /** Whether no reply came in time. Whether the command ran is unknown. */
    public static boolean isTimeout(Throwable failure) {
        return failure instanceof TimeoutException
                || failure instanceof RedisCommandTimeoutException
                || failure instanceof QueryTimeoutException;
    }

    /** Whether the driver had no connection, or refused the command itself, so that nothing was sent. */
    public static boolean isNotSent(Throwable failure) {
        for (Throwable e = failure; e != null; e = e.getCause()) {
            String message = String.valueOf(e.getMessage());
            if (e instanceof NotConnectedException
                    || e instanceof RedisConnectionException
                    || e instanceof PartitionSelectorException
                    || e instanceof ConnectException
                    || REFUSALS.stream().anyMatch(message::startsWith)) {
                return true;
            }
        }
        return false;
    }

    /** Returns a failure that says so, for a command that was never sent, and never will be. */
    static Throwable ofUnsent(Throwable failure) {
        if (failure instanceof RedisCommandExecutionException || isNotSent(failure)) {
            return failure;
        }
        return isTimeout(failure)
                ? new NotConnectedException("No connection to Redis in time", failure)
                : new NotConnectedException("Not sent: " + describe(failure), failure);
    }

    /** Whether a new connection was refused, with an error reply or without. */
    public static boolean isRefusedConnection(Throwable failure) {
        for (Throwable e = failure; e != null; e = e.getCause()) {
            if (e instanceof RedisConnectionException || e instanceof NotConnectedException) {
                return true;
            }
        }
        return false;
    }

    /** Returns the failure that a stage or a future has wrapped. */
    public static Throwable unwrapped(Throwable failure) {
        boolean isWrapper = failure instanceof CompletionException || failure instanceof ExecutionException;
        return isWrapper && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Describes a failure in a few words: its message and that of its root, without command arguments. */
    public static String describe(Throwable failure) {
        ErrorReply error = ErrorReply.of(failure);
        if (error != null) {
            return error.text();
        }
        Throwable root = NestedExceptionUtils.getMostSpecificCause(failure);
        String text = failure.getMessage() + (root == failure ? "" : ": " + root.getMessage());
        return RedisReply.withoutArguments(text);
    }
}
