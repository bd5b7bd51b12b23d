package io.easykit.delayqueue.redis;

import io.easykit.delayqueue.DelayQueueException;
import io.easykit.delayqueue.LogText;
import io.easykit.delayqueue.StoreFullException;
import io.easykit.delayqueue.StoreRefusedException;
import io.easykit.delayqueue.StoreUnavailableException;
import io.easykit.redis.NotConnectedException;
import io.easykit.redis.RedisReply;
import io.easykit.redis.Remedy;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.cluster.PartitionSelectorException;
import java.io.IOException;
import java.net.ConnectException;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;

/** Translates failures of the driver and error replies of Redis into the exceptions of the queue. */
final class RedisFailures {

    /** Errors that speak of the state of the server, which passes; other ones speak of one command, or of its rights. */
    private static final Set<String> PASSING_ERRORS = Set.of(
            "LOADING",
            "READONLY",
            "MOVED",
            "ASK",
            "MASTERDOWN",
            "CLUSTERDOWN",
            "TRYAGAIN",
            "BUSY",
            "NOREPLICAS",
            "MISCONF");

    /** Reply of Redis to a connection beyond its limit; it has no error code of its own. */
    private static final String TOO_MANY_CLIENTS = "ERR max number of clients";

    /** Redis before 7.0 puts the error of a command in a script behind a text of its own. */
    private static final Pattern IN_SCRIPT =
            Pattern.compile("ERR Error running script \\(call to \\w+\\): (@user_script: ?\\d+: )*-?");

    /** A script that passes an error on makes it one of its own from Redis 7.0 on. */
    private static final Pattern PASSED_ON = Pattern.compile("^ERR (?=[A-Z]{3,} )");

    private RedisFailures() {}

    /** Nothing was sent, so there is no doubt. */
    private static DelayQueueException notSent(String what, NotConnectedException e) {
        if (e.getCause() instanceof IllegalStateException) {
            return StoreUnavailableException.notCarriedOut(
                    "The connection to Redis is closed, because the application stops or has not started it yet, and "
                            + what
                            + " was not carried out. Send before the application context is closed, for example in a"
                            + " SmartLifecycle or a listener of ContextClosedEvent.",
                    e);
        }
        return StoreUnavailableException.notCarriedOut(
                "Redis cannot be reached, and " + what + " was not carried out: " + text(e), RedisReply.safe(e));
    }

    static DelayQueueException translate(String what, RuntimeException e) {
        return translate(what, e, "");
    }

    /** @param remedy sentences to add to a refusal */
    static DelayQueueException translate(String what, RuntimeException e, String remedy) {
        Throwable cause = RedisReply.safe(e);
        if (says(e, "OOM")) {
            return new StoreFullException(
                    "Redis is out of memory and refused " + what
                            + ": nothing was stored. Free memory, or raise maxmemory.",
                    cause);
        }
        String refusal = refusal(e);
        if (refusal != null) {
            return new StoreRefusedException("Redis refused " + what + ": " + LogText.of(refusal) + remedy, cause);
        }
        if (e instanceof NotConnectedException unsent) {
            return notSent(what, unsent);
        }
        String error = errorReply(e);
        if (error != null) {
            return StoreUnavailableException.notCarriedOut(
                    "Redis cannot carry out " + what + " now: " + text(e) + Remedy.of(error), cause);
        }
        if (wasRejected(e)) {
            return StoreUnavailableException.notCarriedOut(
                    "Redis is not connected, and " + what + " was not carried out: " + text(e), cause);
        }
        return new StoreUnavailableException(
                "Redis did not answer " + what + ", so its outcome is unknown: " + text(e), cause);
    }

    /** The driver has no connection and sent nothing. */
    private static boolean wasRejected(Throwable thrown) {
        for (Throwable e = thrown; e != null; e = e.getCause()) {
            boolean isUnsent = e instanceof RedisConnectionException
                    || e instanceof PartitionSelectorException
                    || e instanceof ConnectException;
            String message = String.valueOf(e.getMessage());
            if (isUnsent || message.startsWith("Currently not connected") || message.equals("Nothing was sent")) {
                return true;
            }
        }
        return false;
    }

    private static String text(RuntimeException e) {
        String error = errorReply(e);
        return LogText.of(error == null ? RedisReply.withoutArguments(ownAndRootMessage(e)) : error);
    }

    private static String ownAndRootMessage(Throwable e) {
        Throwable root = NestedExceptionUtils.getMostSpecificCause(e);
        return e.getMessage() + (root == e ? "" : ": " + root.getMessage());
    }

    /** Returns the error of Redis if a repetition would give the same error, else null. */
    static @Nullable String refusal(Throwable thrown) {
        String error = errorReply(thrown);
        boolean passes = error == null || PASSING_ERRORS.contains(code(error)) || error.startsWith(TOO_MANY_CLIENTS);
        return passes ? null : error;
    }

    /** Whether the error reply of Redis has this code. */
    static boolean says(RuntimeException e, String code) {
        String error = errorReply(e);
        return error != null && code(error).equals(code);
    }

    private static String code(String error) {
        return error.substring(0, Math.max(0, error.indexOf(' ')));
    }

    /**
     * Returns the error reply of Redis, or null if there was none. Drivers pass an error reply on as an exception of their
     * own; failures of the connection are Java's exceptions.
     */
    static @Nullable String errorReply(Throwable thrown) {
        for (Throwable e = thrown; e != null; e = e.getCause()) {
            String message = e.getMessage();
            if (!(e instanceof DataAccessException || e instanceof IOException)
                    && message != null
                    && message.matches("(?s)[A-Z]{2,} .*")) {
                return RedisReply.withoutArguments(PASSED_ON
                        .matcher(IN_SCRIPT.matcher(message).replaceFirst(""))
                        .replaceFirst(""));
            }
        }
        return null;
    }
}
